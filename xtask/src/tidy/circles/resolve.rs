//! Which part of a folder a path names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::tidy::circles::graph::Edges;
use crate::tidy::source::{Reference, Source};

/// The names from the crate's root down to a module.
type Module = Vec<String>;

/// The dependencies between the parts of every folder below `root`.
pub(super) fn edges(root: &Path, sources: &[Source]) -> Edges {
    let krate = Crate::of(root, sources);
    let mut edges = Edges::default();
    for (module, source) in &krate.files {
        for reference in &source.references {
            let Some(target) = krate.target(module, reference, 0) else {
                continue;
            };

            let common = module
                .iter()
                .zip(&target)
                .take_while(|(one, other)| one == other)
                .count();

            let (Some(from), Some(to)) = (module.get(common), target.get(common)) else {
                continue;
            };

            let folder = [root.to_owned()]
                .into_iter()
                .chain(module[..common].iter().map(PathBuf::from))
                .collect::<PathBuf>();
            let place = format!("{}:{}", source.path.display(), reference.line);

            edges.add(folder.display().to_string(), from, to, place);
        }
    }

    edges
}

struct Crate<'a> {
    files: BTreeMap<Module, &'a Source>,
}

impl<'a> Crate<'a> {
    fn of(root: &Path, sources: &'a [Source]) -> Self {
        let inside = sources
            .iter()
            .filter_map(|source| Some((source.path.strip_prefix(root).ok()?, source)));
        let mut files: BTreeMap<Module, &Source> = inside
            .map(|(path, source)| (module_of(path), source))
            .collect();
        let mut tests: BTreeSet<Module> = BTreeSet::new();
        for (module, source) in &files {
            tests.extend(source.test_modules.iter().map(|name| below(module, name)));
        }

        files.retain(|module, _| {
            !(1..=module.len()).any(|length| tests.contains(&module[..length]))
        });

        Self { files }
    }

    /// The module that a path in `module` names something of; `None` when it is another crate's.
    fn target(&self, module: &Module, reference: &Reference, depth: usize) -> Option<Module> {
        let mut at = [module.as_slice(), &reference.inside].concat();
        let mut path = reference.path.as_slice();
        let first = path.first()?;

        if first == "crate" {
            (at, path) = (Vec::new(), &path[1..]);
        } else if first == "self" {
            path = &path[1..];
        } else if first != "super" && !self.is_module(&at, first) {
            return None;
        }

        while path.first().is_some_and(|word| word == "super") {
            at.pop();
            path = &path[1..];
        }

        for (index, name) in path.iter().enumerate() {
            let is_last = index + 1 == path.len();

            // A function may have the name of a module beside it.
            let item = if is_last || !self.is_module(&at, name) {
                self.passed_on(&at, name, depth)
            } else {
                None
            };

            if let Some(target) = item {
                return Some(target);
            }

            if !self.is_module(&at, name) {
                break;
            }

            at.push(name.clone());
        }

        // What lies in a file's inline modules is the file's.
        while !at.is_empty() && !self.files.contains_key(&at) {
            at.pop();
        }

        Some(at)
    }

    /// The part of `module` whose item the module passes on under this name.
    fn passed_on(&self, module: &Module, name: &str, depth: usize) -> Option<Module> {
        let source = self.files.get(module)?;
        let mut uses = source
            .references
            .iter()
            .filter(|found| found.inside.is_empty() && found.name.as_deref() == Some(name));
        if depth > 8 {
            return None;
        }

        uses.find_map(|found| {
            let target = self.target(module, found, depth + 1)?;
            (target.len() > module.len() && target.starts_with(module)).then_some(target)
        })
    }

    fn is_module(&self, parent: &Module, name: &str) -> bool {
        self.files.contains_key(&below(parent, name))
    }
}

fn below(parent: &Module, name: &str) -> Module {
    let mut module = parent.clone();
    module.push(name.to_owned());
    module
}

/// `graphql/plan/mod.rs` and `graphql/plan.rs` are both `graphql::plan`.
fn module_of(path: &Path) -> Module {
    let mut names: Module = path
        .with_extension("")
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();

    if names.last().is_some_and(|last| last == "mod") || names == ["lib"] {
        names.pop();
    }

    names
}
