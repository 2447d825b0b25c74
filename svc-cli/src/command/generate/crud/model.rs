//! The columns written by mutations.

use super::table::{Column, Table};
use crate::command::generate::is_plain;
use crate::program::{Description, Field, Type};

/// Columns filled by the database.
const FILLED: [&str; 4] = ["id", "created_at", "updated_at", "deleted_at"];

/// The Rust types of scalars, and the PostgreSQL types that they represent.
const SCALARS: [(&str, &str, &[&str]); 12] = [
    (
        "String",
        "String",
        &["text", "varchar", "bpchar", "citext", "name"],
    ),
    ("Int", "i32", &["int2", "int4"]),
    ("BigInt", "i64", &["int8"]),
    ("Float", "f64", &["float4", "float8"]),
    ("Boolean", "bool", &["bool"]),
    ("ID", "ID", &[]),
    ("UUID", "Uuid", &["uuid"]),
    ("DateTime", "DateTime<Utc>", &["timestamptz", "timestamp"]),
    ("Date", "NaiveDate", &["date"]),
    ("Time", "NaiveTime", &["time"]),
    ("Decimal", "Decimal", &["numeric"]),
    ("JSON", "svc::serde_json::Value", &["json", "jsonb"]),
];

/// A field of the input objects.
#[derive(Debug, Default, serde::Serialize)]
pub(super) struct Written {
    /// The column, also the field's name in Rust.
    pub(super) stored: String,
    /// The GraphQL name.
    pub(super) shown: String,
    pub(super) ty: &'static str,
    /// Whether the column is NOT NULL.
    pub(super) is_required: bool,
    /// Whether the database has a default for an omitted value.
    pub(super) has_default: bool,
}

/// The Rust type of a scalar field.
pub(super) fn scalar(field: &Field) -> Option<&'static str> {
    let name = field.ty.trim_end_matches('!');
    SCALARS
        .iter()
        .find(|(scalar, ..)| *scalar == name)
        .map(|(_, rust, _)| *rust)
}

/// The fields of a type with a column in the table, and the keys of its relations. Without the
/// table, the fields of the type are used unchecked.
pub(super) fn written(ty: &Type, description: &Description, table: Option<&Table>) -> Vec<Written> {
    let mut fields: Vec<Written> = ty
        .fields
        .iter()
        .filter_map(|field| of_field(field, table))
        .collect();

    let Some(table) = table else { return fields };
    let is_camel = is_camel(description);
    let relations = ty
        .fields
        .iter()
        .filter_map(|field| field.relation.as_ref())
        .filter(|relation| !relation.many);

    for key in relations
        .filter(|relation| relation.through.is_none())
        .flat_map(|relation| &relation.from)
    {
        let is_new = is_plain(key)
            && !FILLED.contains(&key.as_str())
            && fields.iter().all(|field| field.stored != *key);
        let Some(column) = table
            .column(key)
            .filter(|column| is_new && !is_tenant(column))
        else {
            continue;
        };

        let Some((_, rust, _)) = SCALARS
            .iter()
            .find(|(.., types)| types.contains(&column.ty.as_str()))
        else {
            continue;
        };

        let shown = if is_camel { camel(key) } else { key.clone() };

        fields.push(of_column(column, shown, rust));
    }

    fields
}

fn of_field(field: &Field, table: Option<&Table>) -> Option<Written> {
    let stored = field
        .stored
        .as_deref()
        .filter(|stored| is_plain(stored) && !FILLED.contains(stored))?;
    let ty = scalar(field)?;
    let Some(table) = table else {
        let is_required = field.is_required();
        let (stored, shown) = (stored.to_owned(), field.name.clone());
        return Some(Written {
            stored,
            shown,
            ty,
            is_required,
            has_default: false,
        });
    };

    // A field without a column of this name may be computed by the view.
    let column = table.column(stored).filter(|column| !column.is_generated)?;

    Some(of_column(column, field.name.clone(), ty))
}

fn of_column(column: &Column, shown: String, ty: &'static str) -> Written {
    Written {
        stored: column.name.clone(),
        shown,
        ty,
        is_required: column.is_required,
        has_default: column.has_default,
    }
}

/// Whether the database takes the column's value from the session, as for a tenant.
fn is_tenant(column: &Column) -> bool {
    column.name == "tenant_id" && column.has_default
}

/// The columns required for a new row that no field provides.
pub(super) fn missing<'a>(fields: &[Written], table: &'a Table) -> Vec<&'a str> {
    let needed = table
        .columns
        .iter()
        .filter(|column| column.is_required && !column.has_default && !column.is_generated);
    needed
        .map(|column| column.name.as_str())
        .filter(|name| fields.iter().all(|field| field.stored != *name))
        .collect()
}

/// The table's column with the `id` of the view, if it has another name.
pub(super) fn key(table: &Table) -> Option<&str> {
    if table.column("id").is_some() {
        return None;
    }
    table
        .columns
        .iter()
        .find(|column| column.is_primary)
        .map(|column| column.name.as_str())
}

/// Whether GraphQL names are in camel case.
fn is_camel(description: &Description) -> bool {
    let mut fields = description.types.iter().flat_map(|ty| &ty.fields);
    fields
        .any(|field| field.rust.trim_matches('_').contains('_') && field.name == camel(&field.rust))
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let head = letters
            .next()
            .map(|first| first.to_ascii_uppercase())
            .into_iter();
        name + &head.chain(letters).collect::<String>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, ty: &str, is_required: bool, has_default: bool) -> Column {
        let (name, ty) = (name.to_owned(), ty.to_owned());
        Column {
            name,
            ty,
            is_required,
            has_default,
            is_generated: false,
            is_primary: false,
        }
    }

    #[test]
    fn columns_that_nothing_fills_are_missing() {
        let columns = vec![
            column("id", "uuid", true, true),
            column("fk_author", "int8", true, false),
            column("title", "text", true, false),
            column("note", "text", false, false),
        ];

        let fields = [Written {
            stored: "title".to_owned(),
            ..Written::default()
        }];

        assert_eq!(
            missing(
                &fields,
                &Table {
                    columns,
                    ..Table::default()
                }
            ),
            ["fk_author"]
        );
    }

    #[test]
    fn names_are_joined_as_clients_see_them() {
        assert_eq!(camel("customer_id"), "customerId");
        assert_eq!(camel("name"), "name");
    }
}
