//! The types hidden from clients, because only the program reads them.

use std::collections::HashSet;

use crate::schema::model::{FieldDef, TypeDef, TypeIndex, TypeKind};

/// The root types of the schema, which are added after the types of the program.
const ROOTS: [&str; 3] = ["Query", "Mutation", "Subscription"];

/// Returns the types that clients cannot reach from the public types, which come first, or from a
/// root.
pub(super) fn find(types: &[TypeDef], public: usize) -> HashSet<TypeIndex> {
    // Generated types have positions behind the public ones, so they are shown only if a public
    // type or a root leads to them.
    let is_root =
        |index: &TypeIndex| *index < public || ROOTS.contains(&types[*index].name.as_str());
    let mut waiting: Vec<TypeIndex> = (0..types.len()).filter(is_root).collect();
    let mut reached: HashSet<TypeIndex> = waiting.iter().copied().collect();

    while let Some(index) = waiting.pop() {
        waiting.extend(
            named(&types[index].kind)
                .into_iter()
                // False for a type that was reached before, so cycles end.
                .filter(|next| reached.insert(*next)),
        );
    }

    (0..types.len())
        .filter(|index| !reached.contains(index))
        .collect()
}

/// Returns the types that a type refers to.
fn named(kind: &TypeKind) -> Vec<TypeIndex> {
    let of_field = |field: &FieldDef| {
        let args = field.args.iter().map(|arg| arg.ty.named());
        args.chain([field.ty.named()]).collect::<Vec<_>>()
    };

    match kind {
        TypeKind::Scalar { .. } | TypeKind::Enum(_) => Vec::new(),
        TypeKind::Input(input) => input
            .fields
            .values()
            .map(|field| field.ty.named())
            .collect(),
        TypeKind::Object(object) => object
            .fields
            .values()
            .flat_map(of_field)
            .chain(object.implements.iter().copied())
            .collect(),
        TypeKind::Abstract(abstract_type) => {
            let fields = abstract_type
                .fields
                .iter()
                .flat_map(|fields| fields.values());
            fields
                .flat_map(of_field)
                .chain(abstract_type.members.iter().copied())
                .collect()
        }
    }
}
