//! The names that a module has for svc and for its attributes.

use apollo_compiler::ast::OperationType;
use proc_macro2::Ident;
use syn::{Attribute, Item, UseTree};

use super::OPERATIONS;

/// The names of a module, from its `use` declarations.
#[derive(Debug)]
pub(super) struct Imports {
    /// The names of svc itself.
    crates: Vec<String>,
    attributes: Vec<Imported>,
}

/// An attribute with a name of a module.
#[derive(Debug)]
struct Imported {
    name: String,
    kind: OperationType,
    /// The crate that it is imported from.
    root: String,
}

impl Imports {
    /// The names in a module with these items.
    pub(super) fn of(items: &[Item]) -> Self {
        let mut imports = Self {
            crates: vec!["svc".to_owned()],
            attributes: Vec::new(),
        };

        for item in items {
            let Item::Use(item) = item else { continue };
            match &item.tree {
                UseTree::Rename(renamed) if renamed.ident == "svc" => {
                    imports.crates.push(renamed.rename.to_string());
                }
                UseTree::Path(path) => imports.add(&path.ident.to_string(), &path.tree),
                _ => {}
            }
        }

        imports
    }

    /// The kind of operation that an attribute makes of its function. `has_crate` is whether it has
    /// the key `crate`, which only attributes of svc have, under any name.
    pub(super) fn kind(&self, attribute: &Attribute, has_crate: bool) -> Option<OperationType> {
        let is_svc = |root: &str| has_crate || self.crates.iter().any(|name| name == root);
        let path: Vec<_> = attribute
            .path()
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();

        match &path[..] {
            [name] => {
                let mut found = self
                    .attributes
                    .iter()
                    .filter(|imported| imported.name == *name);
                found
                    .find(|imported| is_svc(&imported.root))
                    .map(|imported| imported.kind)
            }
            [root, name] if is_svc(root) => OPERATIONS.into_iter().find(|kind| kind.name() == name),
            _ => None,
        }
    }

    fn add(&mut self, root: &str, tree: &UseTree) {
        match tree {
            UseTree::Name(name) => self.import(root, &name.ident, &name.ident),
            UseTree::Rename(renamed) if renamed.ident == "self" && root == "svc" => {
                self.crates.push(renamed.rename.to_string());
            }
            UseTree::Rename(renamed) => self.import(root, &renamed.ident, &renamed.rename),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(root, tree)),
            // A wildcard may import all of them; `is_svc` later decides by its crate.
            UseTree::Glob(_) => {
                for kind in OPERATIONS {
                    self.attributes.push(Imported {
                        name: kind.name().to_owned(),
                        kind,
                        root: root.to_owned(),
                    });
                }
            }
            UseTree::Path(_) => {}
        }
    }

    fn import(&mut self, root: &str, item: &Ident, name: &Ident) {
        if let Some(kind) = OPERATIONS.into_iter().find(|kind| item == kind.name()) {
            self.attributes.push(Imported {
                name: name.to_string(),
                kind,
                root: root.to_owned(),
            });
        }
    }
}
