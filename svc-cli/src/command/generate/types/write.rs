//! The Rust file with the types and their queries.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::model::{self, Type};
use super::names::{Names, raw};

/// The module, with everything that it needs.
pub(super) fn module(types: &[Type], enums: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = String::from(
        "//! Tables and views of the database, as types of the schema.\n\nuse svc::prelude::*;\n",
    );

    // The same names as in `model::types`, which chooses the names of enums before all others.
    let names = model::enum_names(enums, &mut Names::default());
    let is_used = |name: &str| {
        let mut fields = types.iter().flat_map(|ty| &ty.fields);
        fields.any(|field| field.ty.split(['<', '>']).any(|part| part == name))
    };
    for (name, values) in enums.iter().filter(|(name, _)| is_used(&names[*name])) {
        enumeration(&mut text, &names[name], name, values);
    }

    for ty in types {
        structure(&mut text, ty);
    }

    for ty in types {
        queries(&mut text, ty);
    }

    let all: Vec<&str> = types
        .iter()
        .flat_map(|ty| {
            std::iter::once(&ty.list_query).chain(ty.row_query.as_ref().map(|query| &query.name))
        })
        .map(String::as_str)
        .collect();

    let all: Vec<String> = all.into_iter().map(raw).collect();
    let _ = write!(
        text,
        "\n/// Adds the queries to the service.\npub fn add(options: AppOptions) -> AppOptions {{\n    \
         options.queries(queries![{}])\n}}\n",
        all.join(", ")
    );

    text
}

fn enumeration(text: &mut String, name: &str, stored: &str, values: &[String]) {
    let _ = write!(
        text,
        "\n/// A value of the enum `{stored}`.\n#[svc_enum]\n#[derive(Debug)]\npub enum {name} {{\n"
    );
    for (variant, value) in model::variants(values) {
        let _ = writeln!(text, "    #[svc(stored = {value:?})]\n    {variant},");
    }
    text.push_str("}\n");
}

fn structure(text: &mut String, ty: &Type) {
    text.push('\n');
    docs(text, "", &ty.docs);
    for column in &ty.left_out {
        let _ = writeln!(text, "// There is no scalar for the column {column}.");
    }

    let _ = writeln!(
        text,
        "#[svc_type(sql_source = {:?})]\n#[derive(Debug)]\npub struct {} {{",
        ty.source, ty.name
    );

    for field in &ty.fields {
        docs(text, "    ", field.docs.as_deref().unwrap_or_default());
        if field.column != field.name {
            let _ = writeln!(text, "    #[svc(stored = {:?})]", field.column);
        }
        let _ = writeln!(text, "    pub {}: {},", raw(&field.name), field.ty);
    }

    for relation in &ty.relations {
        docs(text, "    ", &relation.docs);
        let (from, to) = (columns(&relation.from), columns(&relation.to));
        let _ = writeln!(
            text,
            "    #[relation(from = {from}, to = {to})]\n    pub {}: {},",
            raw(&relation.name),
            relation.ty
        );
    }

    text.push_str("}\n");
}

/// The columns of one end of a relation, in the syntax of its attribute.
fn columns(names: &[String]) -> String {
    match names {
        [name] => format!("{name:?}"),
        names => format!("{names:?}"),
    }
}

fn queries(text: &mut String, ty: &Type) {
    let source = &ty.source;
    let list = raw(&ty.list_query);
    let _ = write!(
        text,
        "\n/// Rows of `{source}`.\n#[svc::query]\npub async fn {list}() -> Vec<{}>;\n",
        ty.name
    );

    if let Some(query) = &ty.row_query {
        let (name, key, key_type) = (raw(&query.name), raw(&query.key), &query.key_type);
        let _ = write!(
            text,
            "\n/// One row of `{source}`.\n#[svc::query]\npub async fn {name}({key}: {key_type}) -> Option<{}>;\n",
            ty.name
        );
    }
}

/// A text as a doc comment.
fn docs(text: &mut String, indent: &str, comment: &str) {
    for line in comment.lines().map(str::trim_end) {
        let space = if line.is_empty() { "" } else { " " };
        let _ = writeln!(text, "{indent}///{space}{line}");
    }
}
