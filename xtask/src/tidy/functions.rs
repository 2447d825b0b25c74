//! Lengths of functions.

use std::collections::BTreeMap;

use crate::tidy::known::Known;
use crate::tidy::source::{Function, Source, is_of_tests};

/// A longer function wants to be split.
const MAX_LINES: usize = 60;

/// Tests are tables of cases, which are easier to read in one place.
const MAX_LINES_OF_TEST: usize = 100;

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
        .filter(move |function| function.lines > most(source, function))
}

/// The most lines that a function may have.
fn most(source: &Source, function: &Function) -> usize {
    if function.is_test || is_of_tests(&source.path) {
        MAX_LINES_OF_TEST
    } else {
        MAX_LINES
    }
}

fn shown(source: &Source, function: &Function) -> String {
    let Function {
        name, line, lines, ..
    } = function;
    let (path, most) = (source.path.display(), most(source, function));

    format!("{path}:{line}: `{name}` has {lines} lines, more than {most}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check;
    use crate::tidy::known::Known;
    use crate::tidy::source::Source;

    /// The places found in a file with one function `f`, whose body has this many statements.
    fn found(path: &str, attribute: &str, statements: usize) -> Vec<String> {
        let body = "    g();\n\n    // A comment.\n".repeat(statements);
        let text = format!("{attribute}\nfn f() {{\n{body}}}");
        let source = Source::parse(Path::new(path), &text).unwrap();

        check(&[source], &mut Known::parse("").unwrap())
    }

    #[test]
    fn functions_have_a_bound() {
        assert_eq!(found("a.rs", "", 58), [""; 0]);
        assert_eq!(
            found("a.rs", "", 59),
            ["a.rs:2: `f` has 61 lines, more than 60"]
        );
    }

    #[test]
    fn tests_have_a_higher_bound() {
        for (path, attribute) in [
            ("a.rs", "#[test]"),
            ("a.rs", "#[tokio::test]"),
            ("a/tests.rs", ""),
            ("a/b_tests.rs", ""),
            ("a/tests/b.rs", ""),
        ] {
            assert_eq!(found(path, attribute, 98), [""; 0], "{path} {attribute}");
            assert_eq!(
                found(path, attribute, 99),
                [format!("{path}:2: `f` has 101 lines, more than 100")],
                "{path} {attribute}"
            );
        }
    }
}
