//! Relations, derived from foreign keys.

use super::catalog::{Key, Place};
use super::model::{Field, Relation, Type};
use super::names::{identifier, plural, snake};

/// An end of a foreign key: fields of a type.
#[derive(Clone)]
struct End {
    index: usize,
    fields: Vec<Field>,
}

impl End {
    /// The columns of the fields.
    fn columns(&self) -> Vec<String> {
        self.fields
            .iter()
            .map(|field| field.column.clone())
            .collect()
    }

    /// The columns for a sentence.
    fn words(&self) -> String {
        self.columns()
            .iter()
            .map(|column| format!("`{column}`"))
            .collect::<Vec<_>>()
            .join(" and ")
    }
}

/// Adds the relations on both sides of each key.
pub(super) fn add(types: &mut [Type], keys: &[Key]) {
    for key in keys {
        let tables = |key: &Key| key.pairs.first().map(|pair| (pair.from.0, pair.to.0));
        let same = |other: &&Key| tables(other) == tables(key);
        let several = keys.iter().filter(same).count() > 1;
        for (from, to) in ends(types, key) {
            forward(types, &from, &to, several, key.is_valid);
            backward(types, &from, &to, several, key.is_unique);
        }
    }
}

/// The ends of a key in each pair of types with its columns.
fn ends(types: &[Type], key: &Key) -> Vec<(End, End)> {
    let mut ends = Vec::new();
    for (here, from) in types.iter().enumerate() {
        for (there, to) in types.iter().enumerate() {
            let Some(pairs) = pairs(from, to, key) else {
                continue;
            };

            let (here_fields, there_fields) = pairs.into_iter().unzip();
            ends.push((
                End {
                    index: here,
                    fields: here_fields,
                },
                End {
                    index: there,
                    fields: there_fields,
                },
            ));
        }
    }

    ends
}

/// The fields of a key in two types. A column with the same name in both tables, such as the
/// tenant's, may be missing if a view hides it: the policies of the tables then compare it.
fn pairs(from: &Type, to: &Type, key: &Key) -> Option<Vec<(Field, Field)>> {
    let field = |ty: &Type, place: Place| {
        ty.fields
            .iter()
            .find(|field| field.origin == Some(place))
            .cloned()
    };

    let mut pairs = Vec::new();
    for pair in &key.pairs {
        match (field(from, pair.from), field(to, pair.to)) {
            (Some(here), Some(there)) => pairs.push((here, there)),
            _ if key.pairs.len() > 1 && pair.is_shared && (from.is_view || to.is_view) => {}
            _ => return None,
        }
    }

    Some(pairs).filter(|pairs| !pairs.is_empty())
}

/// The field with the name of the referenced entity: the one whose column has another name there.
fn naming(from: &End, to: &End) -> Field {
    let mut pairs = from.fields.iter().zip(&to.fields);
    let field = pairs
        .find(|(here, there)| here.column != there.column)
        .map(|(here, _)| here);
    field.unwrap_or(&from.fields[from.fields.len() - 1]).clone()
}

/// The name of the entity that a key references: `author` for `author_id` and `fk_author`.
fn stem(field: &Field) -> String {
    let name = &field.name;
    let stem = name
        .strip_suffix("_id")
        .or_else(|| name.strip_prefix("fk_"))
        .or_else(|| name.strip_prefix("id_"));
    stem.filter(|stem| !stem.is_empty())
        .unwrap_or(name)
        .to_owned()
}

/// The relation from the row with the key to the row that it references.
fn forward(types: &mut [Type], from: &End, to: &End, several: bool, is_valid: bool) {
    let target = &types[to.index];
    let (target_name, target_is_view, source) =
        (target.name.clone(), target.is_view, target.source.clone());
    let one = snake_words(&target_name);
    let ty = &mut types[from.index];
    let naming = naming(from, to);
    let stem = stem(&naming);
    let by = format!("{one}_by_{}", naming.name);
    let name = if several {
        vec![stem.as_str(), by.as_str()]
    } else {
        vec![stem.as_str(), one.as_str(), by.as_str()]
    };

    let name = ty.names.choose(name);

    // A view may omit rows of its table.
    let is_sure = is_valid && from.fields.iter().all(Field::is_required) && !target_is_view;

    ty.relations.push(Relation {
        name,
        ty: if is_sure {
            format!("One<{target_name}>")
        } else {
            format!("Option<One<{target_name}>>")
        },
        from: from.columns(),
        to: to.columns(),
        docs: format!("The row of `{source}` that {} references.", from.words()),
    });
}

/// The relation from a row to the rows whose key references it.
fn backward(types: &mut [Type], from: &End, to: &End, several: bool, is_unique: bool) {
    let child = &types[from.index];
    let (child_name, source) = (child.name.clone(), child.source.clone());
    let one = snake_words(&child_name);

    // A view may have several rows for one row of its table.
    let is_one = is_unique && !child.is_view;
    let plain = if is_one { one } else { plural(&one) };
    let by = format!("{plain}_by_{}", stem(&naming(from, to)));
    let ty = &mut types[to.index];

    // With several keys from one table, each relation includes the name of its key.
    let name = if several && ty.names.is_free(&by) {
        vec![by.as_str()]
    } else {
        vec![plain.as_str(), by.as_str()]
    };

    let name = ty.names.choose(name);

    ty.relations.push(Relation {
        name,
        ty: if is_one {
            format!("Option<One<{child_name}>>")
        } else {
            format!("Many<{child_name}>")
        },
        from: to.columns(),
        to: from.columns(),
        docs: format!(
            "The rows of `{source}` whose {} references this one.",
            from.words()
        ),
    });
}

/// `BlogPost` as `blog_post`.
fn snake_words(name: &str) -> String {
    identifier(&snake(name))
}
