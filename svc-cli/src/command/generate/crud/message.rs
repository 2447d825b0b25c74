//! Messages for clients when a table rejects a row.

use super::model::Written;
use super::table::{Constraint, Kind};

/// A message for a constraint, registered by the generated code.
#[derive(Debug, serde::Serialize)]
pub(super) struct Message {
    name: String,
    message: String,
    identifier: Option<String>,
    /// The invalid field, by its GraphQL name.
    field: String,
}

/// The message for a constraint on a written column; none if the mutations cannot violate it.
pub(super) fn of(constraint: &Constraint, noun: &str, fields: &[Written]) -> Option<Message> {
    let mut about = constraint
        .columns
        .iter()
        .filter_map(|column| fields.iter().find(|field| field.stored == *column));
    let first = about.next()?;
    let names: Vec<String> = std::iter::once(first)
        .chain(about)
        .map(|field| field.stored.replace('_', " "))
        .collect();
    let stem = stem(&first.stored);
    let (message, identifier) = match constraint.kind {
        Kind::Unique => {
            let message = format!("a {noun} with this {} already exists", names.join(" and "));
            (message, Some(format!("{}_taken", first.stored)))
        }
        Kind::Reference => (
            format!("there is no such {}", stem.replace('_', " ")),
            Some(format!("no_{stem}")),
        ),
        Kind::Check if names.len() == 1 => (format!("this {} is not valid", names[0]), None),
        Kind::Check => (
            format!("these values are inconsistent: {}", names.join(", ")),
            None,
        ),
        Kind::Exclusion => (
            format!("this {} overlaps with another {noun}", names.join(" and ")),
            None,
        ),
    };

    Some(Message {
        name: constraint.name.clone(),
        message,
        identifier,
        field: first.shown.clone(),
    })
}

/// The name of the entity that a key references: `author` for `author_id` and `fk_author`.
fn stem(column: &str) -> &str {
    let stem = column
        .strip_suffix("_id")
        .or_else(|| column.strip_prefix("fk_"));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: Kind, columns: &[&str]) -> Option<(String, Option<String>)> {
        let field = |stored: &str| Written {
            stored: stored.to_owned(),
            shown: "f".to_owned(),
            ..Written::default()
        };

        let fields = [field("sku"), field("author_id"), field("ends_at")];
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        let found = of(
            &Constraint {
                name: "c".to_owned(),
                kind,
                columns,
            },
            "product",
            &fields,
        )?;

        Some((found.message, found.identifier))
    }

    #[test]
    fn each_kind_of_constraint_has_its_message() {
        let taken = message(Kind::Unique, &["tenant_id", "sku"]).unwrap();
        assert_eq!(
            taken,
            (
                "a product with this sku already exists".into(),
                Some("sku_taken".into())
            )
        );

        let no_author = message(Kind::Reference, &["tenant_id", "author_id"]).unwrap();
        assert_eq!(
            no_author,
            ("there is no such author".into(), Some("no_author".into()))
        );
        assert_eq!(
            message(Kind::Check, &["ends_at"]).unwrap().0,
            "this ends at is not valid"
        );
        let pair = message(Kind::Check, &["sku", "ends_at"]).unwrap().0;
        assert_eq!(pair, "these values are inconsistent: sku, ends at");
        assert!(
            message(Kind::Exclusion, &["ends_at"])
                .unwrap()
                .0
                .contains("overlaps")
        );

        assert_eq!(
            message(Kind::Unique, &["id"]),
            None,
            "the mutations do not write it"
        );
    }
}
