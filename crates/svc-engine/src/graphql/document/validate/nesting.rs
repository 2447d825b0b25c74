//! The depth and the number of the selections that a document reaches, including fragments. They
//! are counted before any code walks into fragments, so that neither a long chain of fragments nor
//! many operations over many fragments get that far.

use std::collections::HashMap;

use apollo_compiler::ast::{Definition, Document, Selection};

/// The steps for validating a selection, apart from the search for cycles in it.
const VALIDATED: usize = 8;

/// The counts of a document's selections.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// Levels of fields of the deepest operation; introspection is not counted.
    pub(crate) depth: usize,
    /// Levels of selections of any kind of the deepest operation.
    pub(crate) levels: usize,
    pub(crate) aliases: usize,
    pub(crate) directives: usize,
    /// The steps for walking the document for each of its operations; counting stops at the given
    /// maximum.
    pub(crate) steps: usize,
}

/// The depth of a selection below its operation or fragment.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Levels of fields above; `None` in introspection.
    depth: Option<usize>,
    levels: usize,
}

impl Place {
    fn max(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            levels: self.levels.max(other.levels),
        }
    }

    /// The place of a selection at `below` in a fragment that is spread here.
    fn with(self, below: Self) -> Self {
        let depth = self.depth.map(|depth| depth + below.depth.unwrap_or(0));
        Self {
            depth,
            levels: self.levels + below.levels,
        }
    }
}

/// An operation or a fragment, without the fragments that it spreads.
#[derive(Debug, Default)]
struct Part<'a> {
    deepest: Place,
    selections: usize,
    /// Each spread fragment once, at its deepest spread.
    spreads: HashMap<&'a str, Place>,
}

impl Nesting {
    /// Counts a document, and at most `most` steps.
    pub(crate) fn of(document: &Document, most: usize) -> Self {
        let mut nesting = Self::default();
        let (mut operations, mut fragments) = (Vec::new(), Vec::new());
        let mut numbers = HashMap::new();

        for definition in &document.definitions {
            match definition {
                Definition::OperationDefinition(operation) => {
                    nesting.directives += operation.directives.len();
                    operations.push(nesting.part(&operation.selection_set));
                }
                Definition::FragmentDefinition(fragment) => {
                    nesting.directives += fragment.directives.len();
                    numbers.insert(fragment.name.as_str(), fragments.len());
                    fragments.push(nesting.part(&fragment.selection_set));
                }
                _ => {}
            }
        }

        let link = |part: Part<'_>| Linked::new(part, &numbers);
        let operations: Vec<_> = operations.into_iter().map(link).collect();
        let fragments: Vec<_> = fragments.into_iter().map(link).collect();
        let below = depths(&fragments);
        let deepest = operations
            .iter()
            .map(|operation| operation.deepest(&below))
            .fold(Place::default(), Place::max);
        (nesting.depth, nesting.levels) = (deepest.depth.unwrap_or(0), deepest.levels);
        nesting.steps = steps(&operations, &fragments, most);

        nesting
    }

    fn part<'a>(&mut self, selections: &'a [Selection]) -> Part<'a> {
        let mut part = Part::default();
        self.walk(
            &mut part,
            selections,
            Place {
                depth: Some(0),
                levels: 0,
            },
        );

        part
    }

    /// The parser bounds the nesting depth of selections in one definition, and so this recursion.
    fn walk<'a>(&mut self, part: &mut Part<'a>, selections: &'a [Selection], place: Place) {
        if selections.is_empty() {
            return;
        }

        let place = Place {
            levels: place.levels + 1,
            ..place
        };

        part.deepest = part.deepest.max(place);
        part.selections += selections.len();

        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    self.directives += field.directives.len();
                    self.aliases += usize::from(field.alias.is_some());

                    // The introspection queries of tools nest deeply, and `check_depth` bounds
                    // them.
                    let counts = !matches!(field.name.as_str(), "__schema" | "__type");
                    let below = Place {
                        depth: place.depth.filter(|_| counts).map(|depth| depth + 1),
                        ..place
                    };
                    part.deepest = part.deepest.max(below);
                    self.walk(part, &field.selection_set, below);
                }
                Selection::InlineFragment(fragment) => {
                    self.directives += fragment.directives.len();
                    self.walk(part, &fragment.selection_set, place);
                }
                Selection::FragmentSpread(spread) => {
                    self.directives += spread.directives.len();
                    let deepest = part
                        .spreads
                        .entry(spread.fragment_name.as_str())
                        .or_default();
                    *deepest = deepest.max(place);
                }
            }
        }
    }
}

/// A part that refers to its fragments by number.
struct Linked {
    deepest: Place,
    selections: usize,
    spreads: Vec<(usize, Place)>,
}

impl Linked {
    fn new(part: Part<'_>, numbers: &HashMap<&str, usize>) -> Self {
        let spreads = part
            .spreads
            .into_iter()
            .filter_map(|(name, place)| Some((*numbers.get(name)?, place)));
        Self {
            deepest: part.deepest,
            selections: part.selections,
            spreads: spreads.collect(),
        }
    }

    /// The deepest place, including places in fragments; `below` has the deepest places that are
    /// already computed.
    fn deepest(&self, below: &[Option<Place>]) -> Place {
        let spreads = self
            .spreads
            .iter()
            .map(|(fragment, place)| place.with(below[*fragment].unwrap_or_default()));
        spreads.fold(self.deepest, Place::max)
    }
}

/// The deepest place in each fragment. A spread that closes a cycle counts for nothing: such a
/// document is rejected later.
fn depths(fragments: &[Linked]) -> Vec<Option<Place>> {
    let mut known = vec![None; fragments.len()];
    let mut entered = vec![false; fragments.len()];
    for first in 0..fragments.len() {
        // An explicit stack: a document can chain more fragments than fit on the stack of a thread.
        let mut stack = vec![first];
        while let Some(&fragment) = stack.last() {
            if !std::mem::replace(&mut entered[fragment], true) {
                stack.extend(
                    fragments[fragment]
                        .spreads
                        .iter()
                        .map(|(next, _)| *next)
                        .filter(|next| !entered[*next]),
                );
                continue;
            }

            stack.pop();
            if known[fragment].is_none() {
                known[fragment] = Some(fragments[fragment].deepest(&known));
            }
        }
    }

    known
}

/// The steps of all walks: validation visits everything that each operation reaches, and searches
/// for cycles from each fragment found there.
fn steps(operations: &[Linked], fragments: &[Linked], most: usize) -> usize {
    let mut reach = Reach {
        fragments,
        seen: vec![0; fragments.len()],
        walk: 0,
    };

    let mut cycles: Vec<Option<usize>> = vec![None; fragments.len()];
    let mut steps = 0;
    for operation in operations {
        let met = reach.from(operation);
        steps += operation.selections * VALIDATED;

        for fragment in met {
            let walked = *cycles[fragment].get_or_insert_with(|| {
                let met = reach.from(&fragments[fragment]);
                fragments[fragment].selections
                    + met
                        .iter()
                        .map(|met| fragments[*met].selections)
                        .sum::<usize>()
            });

            steps += fragments[fragment].selections * VALIDATED + walked;
            if steps > most {
                return steps;
            }
        }
    }

    steps
}

/// Walks over fragments.
struct Reach<'a> {
    fragments: &'a [Linked],
    /// The walk that met each fragment last.
    seen: Vec<usize>,
    walk: usize,
}

impl Reach<'_> {
    /// The fragments that are met below a part.
    fn from(&mut self, part: &Linked) -> Vec<usize> {
        // A new number marks each fragment as not met, without clearing the list for every walk.
        self.walk += 1;
        let (mut met, mut next) = (Vec::new(), 0);
        let mut spreads = &part.spreads;
        loop {
            for (fragment, _) in spreads {
                if std::mem::replace(&mut self.seen[*fragment], self.walk) != self.walk {
                    met.push(*fragment);
                }
            }
            let Some(fragment) = met.get(next) else {
                return met;
            };
            spreads = &self.fragments[*fragment].spreads;
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use apollo_compiler::ast::Document;

    use super::Nesting;

    fn nesting(text: &str) -> Nesting {
        Nesting::of(&Document::parse(text, "test.graphql").unwrap(), 1_000_000)
    }

    #[test]
    fn fragments_count_where_they_are_spread() {
        for (text, depth, levels) in [
            ("{ a }", 1, 1),
            ("{ a { b } c }", 2, 2),
            ("{ a { ...F } } fragment F on T { b { c } }", 3, 4),
            (
                "{ ...F a { ... { ...F } } } fragment F on T { b { c } }",
                3,
                5,
            ),
            (
                "{ ...F } fragment F on T { a { ...G } } fragment G on T { b { ...F } }",
                2,
                5,
            ),
            ("{ __schema { types { name } } a }", 1, 3),
            (
                "{ __schema { ...F } ...G } fragment F on T { a { b { c { d } } } } fragment G on Q { e }",
                1,
                6,
            ),
        ] {
            let nesting = nesting(text);
            assert_eq!((nesting.depth, nesting.levels), (depth, levels), "{text}");
        }
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let mut text = "{ ...f0 }".to_owned();
        for n in 0..5_000 {
            let _ = write!(text, " fragment f{n} on T {{ ...f{} }}", n + 1);
        }
        assert_eq!(nesting(&text).levels, 5_001);
    }

    #[test]
    fn each_operation_counts_its_fragments() {
        let fragment = format!("fragment F on T {{ {} }}", "a ".repeat(100));
        let one = nesting(&format!("{{ ...F }} {fragment}")).steps;
        let ten: String = (0..10).map(|n| format!("query q{n} {{ ...F }} ")).collect();
        assert_eq!(nesting(&format!("{ten} {fragment}")).steps, one * 10);
    }
}
