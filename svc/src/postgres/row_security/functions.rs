//! Functions that run as an owner whom policies do not bind.

use super::finding::Finding;

/// A function with SECURITY DEFINER: one that a view calls, or the service.
pub(super) fn finding(view: Option<&str>, function: &str, owner: &str, passes_all: bool) -> Finding {
    let caller = view.map_or_else(|| "the service".to_owned(), |view| format!("`{view}`"));
    let passes = if passes_all { "who passes every policy" } else { "who owns tables and so passes their policies" };
    Finding {
        what: format!("{caller} calls `{function}`, which runs as its owner `{owner}`, {passes}"),
        fix: format!("ALTER FUNCTION {function} SECURITY INVOKER, or OWNER TO a role that policies bind"),
    }
}
