//! Types of the schema, derived from tables and views.

use std::collections::BTreeMap;

use super::catalog::{Catalog, Place, Source};
use super::names::{Names, capitalised, identifier, plural, snake, type_name};
use super::relations;
use super::scalar::{key_type, rust_type};

/// A type, with the queries that return its rows.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: String,
    /// The name for `sql_source`.
    pub(super) source: String,
    pub(super) docs: String,
    pub(super) is_view: bool,
    pub(super) fields: Vec<Field>,
    pub(super) relations: Vec<Relation>,
    /// Columns without a field.
    pub(super) left_out: Vec<String>,
    pub(super) list_query: String,
    /// The query for one row.
    pub(super) row_query: Option<RowQuery>,
    pub(super) names: Names,
}

/// A query for one row.
#[derive(Debug)]
pub(super) struct RowQuery {
    pub(super) name: String,
    /// The field that identifies the row, and its type.
    pub(super) key: String,
    pub(super) key_type: String,
}

/// A field for a column.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) column: String,
    pub(super) ty: String,
    pub(super) docs: Option<String>,
    pub(super) origin: Option<Place>,
    pub(super) is_primary: bool,
}

impl Field {
    /// Whether its column is never null.
    pub(super) fn is_required(&self) -> bool {
        !self.ty.starts_with("Option<")
    }
}

/// A relation to rows of another type, or of the same type.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) ty: String,
    /// The columns here, and the columns there that they are compared with.
    pub(super) from: Vec<String>,
    pub(super) to: Vec<String>,
    pub(super) docs: String,
}

/// The types of all sources, with their relations.
pub(super) fn types(catalog: &Catalog) -> Vec<Type> {
    let (mut names, mut queries) = (Names::default(), Names::default());

    // The names of the enums come first, because `write::module` chooses them again, and alone.
    let enums = enum_names(&catalog.enums, &mut names);
    let enum_name = |name: &str| enums.get(name).cloned();
    let mut types = Vec::new();

    for source in &catalog.sources {
        let wanted = type_name(&source.name);
        let with_schema = format!("{}{wanted}", type_name(&source.schema));
        let name = names.choose([wanted.as_str(), with_schema.as_str()]);
        types.push(of_source(source, name, &mut queries, &enum_name));
    }

    relations::add(&mut types, &catalog.keys);

    types
}

/// The Rust names of the enums.
pub(super) fn enum_names(
    enums: &BTreeMap<String, Vec<String>>,
    names: &mut Names,
) -> BTreeMap<String, String> {
    enums
        .keys()
        .map(|name| {
            let rust = type_name(name);
            (
                name.clone(),
                names.choose([rust.as_str(), format!("{rust}Enum").as_str()]),
            )
        })
        .collect()
}

fn of_source(
    source: &Source,
    name: String,
    queries: &mut Names,
    enums: &dyn Fn(&str) -> Option<String>,
) -> Type {
    let mut names = Names::default();
    let (fields, left_out) = fields(source, &mut names, enums);
    let words = snake(&split(&name));
    let (list, one) = (plural(&words), words);
    let list_query = queries.choose([identifier(&list).as_str()]);
    let key = fields
        .iter()
        .find(|field| field.is_primary || (source.is_view && field.name == "id"));
    let key = key.and_then(|field| Some((field.name.clone(), key_type(&field.ty)?.to_owned())));
    let row_query = key.map(|(key, key_type)| {
        let name = queries.choose([identifier(&one).as_str()]);
        RowQuery {
            name,
            key,
            key_type,
        }
    });

    let path = if source.schema == "public" {
        source.name.clone()
    } else {
        format!("{}.{}", source.schema, source.name)
    };

    let docs = source
        .comment
        .clone()
        .unwrap_or_else(|| format!("A row of `{path}`."));
    let relations = Vec::new();
    let is_view = source.is_view;

    Type {
        name,
        source: path,
        docs,
        is_view,
        fields,
        relations,
        left_out,
        list_query,
        row_query,
        names,
    }
}

/// The fields of a source, and its columns without a field.
fn fields(
    source: &Source,
    names: &mut Names,
    enums: &dyn Fn(&str) -> Option<String>,
) -> (Vec<Field>, Vec<String>) {
    let (mut fields, mut left_out) = (Vec::new(), Vec::new());

    // In svc's views, `data` repeats the columns, and may contain values that are not for clients.
    let is_projection = source.name.starts_with("v_") || source.name.starts_with("tv_");

    for column in source
        .columns
        .iter()
        .filter(|column| !(is_projection && column.name == "data"))
    {
        let Some(ty) = rust_type(column, enums) else {
            left_out.push(format!("{} ({})", column.name, column.ty));
            continue;
        };

        let name = names.choose([identifier(&snake(&column.name)).as_str()]);
        fields.push(Field {
            name,
            column: column.name.clone(),
            ty,
            docs: column.comment.clone(),
            origin: column.origin,
            is_primary: column.is_primary,
        });
    }

    (fields, left_out)
}

/// `BlogPost` as `Blog Post`.
fn split(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c);
    }
    words
}

/// The variants of an enum, each with its stored text.
pub(super) fn variants(values: &[String]) -> Vec<(String, &str)> {
    let mut names = Names::default();
    let variant = |value: &str| -> String {
        let name: String = snake(value).split('_').map(capitalised).collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name != "Self";
        if is_name { name } else { format!("V{name}") }
    };

    values
        .iter()
        .map(|value| (names.choose([variant(value).as_str()]), value.as_str()))
        .collect()
}
