//! The values of columns in documents, and the forms that a column accepts.

use super::Table;
use crate::catalog::functions::ArgForm;
use crate::{ColumnType, Source, quote_literal};
use svc_core::exact_json::Fields;

impl Table<'_> {
    /// The value of a column in a document.
    pub(super) fn value(&self, document: &str, column: &str) -> String {
        let key = quote_literal(column);
        let Some(ty) = self.source.columns.get(column) else {
            return "NULL".to_owned();
        };

        let cast = ty.cast();

        // A null of the input means SQL's NULL, and not the JSON value.
        if ty.is_json() {
            return format!("NULLIF({document}->{key}, 'null')::{cast}");
        }

        // `jsonb_array_elements_text` fails for anything but a list, so a null is left to `CASE`.
        if ty.is_array() {
            return format!(
                "CASE jsonb_typeof({document}->{key}) WHEN 'array' \
                 THEN ARRAY(SELECT jsonb_array_elements_text({document}->{key}))::{cast} END"
            );
        }

        format!("({document}->>{key})::{cast}")
    }

    /// Returns why no id of a view can be a key of the table, if their types show it.
    pub fn excludes_ids(&self, view: &Source) -> Option<String> {
        let (id, key) = (view.columns.get("id")?, self.key);
        let is_misfit = (id.is_uuid() && key.is_number()) || (id.is_number() && key.is_uuid());

        is_misfit.then(|| {
            format!(
                "the key of `{}` is of type {}, and the `id` of `{}` is of type {}",
                self.source.name, key.sql, view.name, id.sql
            )
        })
    }

    /// The type of a column in a cast.
    pub(super) fn cast(&self, column: &str) -> String {
        self.source
            .columns
            .get(column)
            .map_or("text".to_owned(), ColumnType::cast)
    }
}

impl ColumnType {
    fn is_json(&self) -> bool {
        matches!(self.name.as_str(), "json" | "jsonb")
    }

    fn is_uuid(&self) -> bool {
        self.name == "uuid"
    }

    fn is_number(&self) -> bool {
        matches!(self.name.as_str(), "int2" | "int4" | "int8" | "numeric")
    }

    fn is_array(&self) -> bool {
        self.name.starts_with('_')
    }

    /// Its type in a cast. Without a length, `character` and `bit` mean a length of one, and
    /// truncate their input.
    pub(super) fn cast(&self) -> String {
        match self
            .sql
            .strip_prefix("character")
            .or_else(|| self.sql.strip_prefix("bit"))
        {
            Some(list @ ("" | "[]")) if self.sql.starts_with('c') => format!("bpchar{list}"),
            Some(list @ ("" | "[]")) => format!("pg_catalog.bit{list}"),
            _ => self.sql.clone(),
        }
    }

    /// Whether it accepts values of a form, or why not.
    pub(super) fn takes(&self, form: ArgForm) -> Result<(), String> {
        let (is_json, is_array) = (self.is_json(), self.is_array());
        match form {
            ArgForm::Json if !is_json => Err(format!(
                "is of type {}; an object needs one of type jsonb",
                self.sql
            )),
            ArgForm::List if !is_json && !is_array => Err(format!(
                "is of type {}; a list needs an array, or one of type jsonb",
                self.sql
            )),
            ArgForm::Text if is_array => Err(format!("is of type {}; give it a list", self.sql)),
            _ => Ok(()),
        }
    }
}

/// The distinct columns in documents.
pub(super) fn columns_of(items: &[Fields]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for (column, _) in items.iter().flat_map(Fields::iter) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}
