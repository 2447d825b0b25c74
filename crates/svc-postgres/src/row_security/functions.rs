//! Functions that run as an owner exempt from policies.

use super::finding::Finding;

/// A `SECURITY DEFINER` function that a view or the service calls.
pub(super) fn finding(
    view: Option<&str>,
    function: &str,
    owner: &str,
    passes_all: bool,
) -> Finding {
    let caller = view.map_or_else(|| "the service".to_owned(), |view| format!("`{view}`"));
    let passes = if passes_all {
        "who passes every policy"
    } else {
        "who owns tables and so passes their policies"
    };

    Finding {
        what: format!("{caller} calls `{function}`, which runs as its owner `{owner}`, {passes}"),
        fix: format!(
            "ALTER FUNCTION {function} SECURITY INVOKER, or OWNER TO a role that policies bind"
        ),
    }
}
