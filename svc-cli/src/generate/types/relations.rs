//! Relations, made of foreign keys.

use super::catalogue::{Key, Place};
use super::model::{Field, Relation, Type};
use super::names::{identifier, plural, snake};

/// An end of a foreign key: a field of a type.
#[derive(Clone)]
struct End {
    index: usize,
    field: Field,
}

/// Adds the relations of both sides of each key.
pub(super) fn add(types: &mut [Type], keys: &[Key]) {
    for key in keys {
        for from in ends(types, key.from) {
            for to in ends(types, key.to) {
                let several =
                    keys.iter().filter(|other| other.from.0 == key.from.0 && other.to.0 == key.to.0).count() > 1;
                forward(types, &from, &to, several, key.is_valid);
                backward(types, &from, &to, several);
            }
        }
    }
}

/// The fields that have the values of a column.
fn ends(types: &[Type], place: Place) -> Vec<End> {
    let field = |ty: &Type| ty.fields.iter().find(|field| field.origin == Some(place)).cloned();
    types.iter().enumerate().filter_map(|(index, ty)| Some(End { index, field: field(ty)? })).collect()
}

/// The name of what a key leads to: `author` for `author_id` and `fk_author`.
fn stem(field: &Field) -> String {
    let name = &field.name;
    let stem = name.strip_suffix("_id").or_else(|| name.strip_prefix("fk_")).or_else(|| name.strip_prefix("id_"));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(name).to_owned()
}

/// From the row with the key to the one row that it names.
fn forward(types: &mut [Type], from: &End, to: &End, several: bool, is_valid: bool) {
    let target = &types[to.index];
    let (target_name, target_is_view, source) = (target.name.clone(), target.is_view, target.source.clone());
    let one = snake_words(&target_name);
    let ty = &mut types[from.index];
    let stem = stem(&from.field);
    let by = format!("{one}_by_{}", from.field.name);
    let name = if several { vec![stem.as_str(), by.as_str()] } else { vec![stem.as_str(), one.as_str(), by.as_str()] };
    let name = ty.names.choose(name);
    // A view may leave out rows that its table has.
    let is_sure = is_valid && from.field.is_required() && !target_is_view;
    ty.relations.push(Relation {
        name,
        ty: if is_sure { format!("One<{target_name}>") } else { format!("Option<One<{target_name}>>") },
        from: from.field.column.clone(),
        to: to.field.column.clone(),
        docs: format!("The row of `{source}` that `{}` names.", from.field.column),
    });
}

/// From a row to those whose key names it.
fn backward(types: &mut [Type], from: &End, to: &End, several: bool) {
    let child = &types[from.index];
    let (child_name, source) = (child.name.clone(), child.source.clone());
    let one = snake_words(&child_name);
    let is_one = from.field.is_unique;
    let plain = if is_one { one } else { plural(&one) };
    let by = format!("{plain}_by_{}", stem(&from.field));
    let ty = &mut types[to.index];
    // Several keys of one table each say their name.
    let name = if several && ty.names.is_free(&by) { vec![by.as_str()] } else { vec![plain.as_str(), by.as_str()] };
    let name = ty.names.choose(name);
    ty.relations.push(Relation {
        name,
        ty: if is_one { format!("Option<One<{child_name}>>") } else { format!("Many<{child_name}>") },
        from: to.field.column.clone(),
        to: from.field.column.clone(),
        docs: format!("The rows of `{source}` whose `{}` names this one.", from.field.column),
    });
}

/// `BlogPost` as `blog_post`.
fn snake_words(name: &str) -> String {
    identifier(&snake(name))
}
