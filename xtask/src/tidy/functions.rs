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
    let Function { name, line, lines } = function;
    format!(
        "{}:{line}: `{name}` has {lines} lines, more than {MAX_LINES}",
        source.path.display()
    )
}
