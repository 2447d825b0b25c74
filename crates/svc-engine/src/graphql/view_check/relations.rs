//! Relation keys whose types cannot be compared.

use super::{Finding, Severity};
use svc_core::schema::{FieldKind, Model, Relation, TypeIndex};
use svc_postgres::{Catalog, ColumnType};

/// A column with its view and its name.
type Key<'c> = (&'c str, &'static str, &'c ColumnType);

/// The relations whose keys are columns of different types: PostgreSQL reads a text as the other
/// type, row by row, and converts no other type to uuid.
pub(super) fn mismatched_keys(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let mut found = Vec::new();
    for (row, def) in model.types.iter().enumerate() {
        let Some(object) = model.object(row).filter(|object| object.source.is_some()) else {
            continue;
        };

        for field in object.fields.values() {
            let FieldKind::Relation(relation) = field.kind else {
                continue;
            };
            if relation.is_derived() {
                continue;
            }

            let pairs = pairs(model, catalog, row, relation);
            found.extend(pairs.into_iter().filter_map(|(one, other)| {
                let (cause, severity) = mismatch(one, other)?;
                Some(Finding {
                    severity,
                    source: one.0.to_owned(),
                    field: format!("{}.{}", def.name, field.name),
                    cause,
                    remedy:
                        "cast one of them in its view, or name keys of one type in `#[relation(…)]`"
                            .to_owned(),
                })
            }));
        }
    }

    found
}

/// The columns that are compared, as far as the keys are columns.
fn pairs<'c>(
    model: &'c Model,
    catalog: &'c Catalog,
    row: TypeIndex,
    relation: Relation,
) -> Vec<(Key<'c>, Key<'c>)> {
    let column = |source: Option<&'c str>, name: &'static str| {
        let source = catalog.source(source?)?;
        Some((source.name.as_str(), name, source.columns.get(name)?))
    };

    let here = (model.source(row), relation.from);
    let there = (model.source(relation.row), relation.to);
    let ends = match relation.through {
        None => vec![(here, there)],
        Some(through) => {
            let joining = |keys| (Some(through.source), keys);
            vec![
                (joining(through.here), here),
                (joining(through.there), there),
            ]
        }
    };

    let pairs = ends
        .into_iter()
        .flat_map(|((one, names), (other, others))| {
            names
                .iter()
                .zip(others)
                .map(move |(name, that)| (column(one, name), column(other, that)))
        });

    pairs
        .filter_map(|(one, other)| Some((one?, other?)))
        .collect()
}

fn mismatch(
    (here, name, one): Key<'_>,
    (there, other_name, other): Key<'_>,
) -> Option<(String, Severity)> {
    let (a, b) = (family(&one.name), family(&other.name));
    if a == b {
        return None;
    }

    let cause = format!(
        "`{name}` of `{here}` is {}, and `{other_name}` of `{there}` is {}",
        one.sql, other.sql
    );

    // Only a text can be read as a uuid, so with any other type the keys never match.
    let is_hopeless = a != "text" && b != "text" && (a == "uuid" || b == "uuid");

    Some((
        cause,
        if is_hopeless {
            Severity::Fault
        } else {
            Severity::Hint
        },
    ))
}

/// Types whose values can be compared.
fn family(column: &str) -> &str {
    match column {
        "int2" | "int4" | "int8" | "numeric" => "number",
        "text" | "varchar" | "bpchar" | "name" | "citext" => "text",
        other => other,
    }
}
