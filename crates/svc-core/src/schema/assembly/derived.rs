//! Types that the framework generates for a row type and that have a Rust type: `Connection<T>`,
//! `Aggregate<T>`, `Where<T>` and `OrderBy<T>`.

use indexmap::IndexMap;

use crate::schema::model::{InputDef, InputRole, ObjectDef, TypeDef, TypeIndex, TypeKind};
use crate::schema::registration::{Derived, Entry, JoinedPage};
use crate::schema::{Registry, TypeKey};

/// Each derived type with its row type and its own index.
pub(super) fn find(registry: &Registry) -> Vec<(Derived, TypeIndex, TypeIndex)> {
    let derived = |(index, entry): (usize, &Entry)| match entry {
        Entry::Derived(derived, row) => Some((*derived, row.0, index)),
        _ => None,
    };

    registry
        .entries
        .iter()
        .enumerate()
        .filter_map(derived)
        .collect()
}

/// The pages of relations whose edges have fields, each with the index of its type.
pub(super) fn joined(registry: &Registry) -> Vec<(&JoinedPage, TypeIndex)> {
    let entries = registry.entries.iter().enumerate();
    let joined = entries.map(|(index, entry)| match entry {
        Entry::Joined(page) => Some((page, index)),
        _ => None,
    });
    joined.flatten().collect()
}

/// The type of such a page, before its fields are added.
pub(super) fn joined_placeholder(page: &JoinedPage, index: TypeIndex) -> TypeDef {
    let name = format!("{}Connection", page.name);
    let kind = TypeKind::Object(ObjectDef::made(index, IndexMap::new()));
    TypeDef {
        path: format!("svc's {name}"),
        name,
        description: None,
        kind,
    }
}

/// The type, before its fields are added.
pub(super) fn placeholder(
    registry: &Registry,
    derived: Derived,
    row: TypeKey,
    index: TypeIndex,
) -> TypeDef {
    let element = match &registry.entries[row.0] {
        Entry::Object(meta, _) => &meta.element,
        Entry::Abstract(meta, _) => &meta.element,
        _ => unreachable!("only types with rows are registered as rows"),
    };

    let row = element.name.unwrap_or(element.rust);
    let (suffix, is_input) = match derived {
        Derived::Connection => ("Connection", false),
        Derived::Aggregate => ("Aggregate", false),
        Derived::Where => ("Where", true),
        Derived::OrderBy => ("OrderBy", true),
    };

    let kind = if is_input {
        TypeKind::Input(InputDef {
            fields: IndexMap::new(),
            one_of: false,
            role: InputRole::Declared,
        })
    } else {
        TypeKind::Object(ObjectDef::made(index, IndexMap::new()))
    };

    TypeDef {
        name: format!("{row}{suffix}"),
        description: None,
        path: format!("svc's {row}{suffix}"),
        kind,
    }
}
