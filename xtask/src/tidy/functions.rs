//! Lengths of functions.

use std::collections::BTreeMap;

use crate::tidy::known::Known;
use crate::tidy::source::{Function, Source};

/// A longer function wants to be split.
const MAX_LINES: usize = 60;

/// The functions of files that have more long ones than is known.
pub(crate) fn check(sources: &[Source], known: &mut Known) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for source in sources {
        match long(source).count() {
            0 => {}
            count => drop(counts.insert(source.path.display().to_string(), count)),
        }
    }

    let exceeded = known.exceeded("long-functions", &counts);
    let exceeding = sources
        .iter()
        .filter(|source| exceeded.contains_key(&source.path.display().to_string()));

    exceeding
        .flat_map(|source| long(source).map(|function| shown(source, function)))
        .collect()
}

fn long(source: &Source) -> impl Iterator<Item = &Function> {
    source
        .functions
        .iter()
        .filter(|function| function.lines > MAX_LINES)
}

fn shown(source: &Source, function: &Function) -> String {
    let Function {
        name, line, lines, ..
    } = function;
    let path = source.path.display();

    format!("{path}:{line}: `{name}` has {lines} lines, more than {MAX_LINES}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check;
    use crate::tidy::known::Known;
    use crate::tidy::source::Source;

    /// The places found in a file with one function `f`, whose body has this many statements.
    fn found(statements: usize) -> Vec<String> {
        let body = "    g();\n\n    // A comment.\n".repeat(statements);
        let text = format!("fn f() {{\n{body}}}");
        let source = Source::parse(Path::new("a.rs"), &text).unwrap();

        check(&[source], &mut Known::parse("").unwrap())
    }

    #[test]
    fn functions_have_a_bound() {
        assert_eq!(found(58), [""; 0]);
        assert_eq!(found(59), ["a.rs:1: `f` has 61 lines, more than 60"]);
    }
}
