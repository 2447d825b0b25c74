//! A table that is written, with its rows and the values nested in them for other tables.

use super::TableMutation;
use super::columns::{NestedField, input_of, level_columns, nested_fields};
use super::undone::Undone;
use crate::sql::Subject;
use svc_core::Error;
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::schema::{InputDef, NestedVerb, TypeIndex};
use svc_postgres::{Catalog, Table};

/// A table that is written.
pub(super) struct Level<'a> {
    pub(super) table: Table<'a>,
    /// The type of its rows, for messages.
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    /// The type whose row policies apply to its rows, if there are any.
    pub(super) governed: Option<TypeIndex>,
    /// The type that decides which rows may be written, by row policies or by the authorizer's row
    /// filter, if any of these applies.
    pub(super) restricted: Option<TypeIndex>,
    /// The type that reads its rows, if there is one.
    pub(super) of: Option<TypeIndex>,
    input: Option<&'a InputDef>,
    /// The columns returned for each written row; the first is the key.
    pub(super) returned: Vec<&'a str>,
    /// The path of the rows in the arguments, without item indexes.
    pub(super) place: String,
}

/// A row that is to be written.
pub(super) struct NewRow<'a> {
    pub(super) columns: Fields,
    /// The values nested for other tables, with the fields that hold them.
    nested: Vec<(&'a str, ExactJson)>,
    /// The path in the arguments, such as `input.lines[2]`.
    pub(super) path: String,
    pub(super) origin: Origin,
}

/// Whether a row exists before it is written.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    Added,
    /// Only PostgreSQL can decide.
    Either,
    /// The row with this key exists.
    There(String),
}

/// A row that has been written.
pub(super) struct WrittenRow<'a> {
    pub(super) row: NewRow<'a>,
    /// The values of its returned columns.
    pub(super) values: Vec<String>,
    /// Whether it may have existed before, with rows that refer to it.
    pub(super) was_there: bool,
}

impl<'a> Level<'a> {
    /// The table that the mutation itself writes.
    pub(super) fn root(
        mutation: &'a TableMutation<'a>,
        catalog: &'a Catalog,
    ) -> Result<Self, String> {
        let TableMutation {
            write,
            input,
            columns,
            row,
            argument,
            is_governed,
            ..
        } = mutation;

        let table = Table::new(catalog, write.table, write.key, columns)?;
        let (name, governed) = (mutation.name(), is_governed.then_some(*row));
        let is_filtered = mutation.row_filter().is_some();
        Ok(Self {
            table,
            name,
            key: write.key,
            governed,
            restricted: governed.or(is_filtered.then_some(*row)),
            of: Some(*row),
            input: *input,
            returned: Vec::new(),
            place: (*argument).to_owned(),
        }
        .returning(None))
    }

    /// The table whose rows are nested in a field. For a single row, the column that the outer row
    /// refers to is returned too.
    pub(super) fn nested(
        &self,
        mutation: &'a TableMutation<'a>,
        catalog: &'a Catalog,
        (field, nested): NestedField<'a>,
    ) -> Result<Self, Undone> {
        let model = &mutation.db.app.model;
        let input = input_of(model, field.ty.named());
        let of = nested.of.and_then(|of| model.by_rust.get(&of()).copied());
        let governed = mutation.governed(of).map_err(Undone::Error)?;
        let columns = level_columns(model, input, nested);
        let table = Table::new(catalog, nested.table, nested.key, &columns)
            .map_err(|why| mutation.unwritable(why))?;
        let name = of.map_or(nested.table, |of| model.types[of].name.as_str());
        let place = format!("{}.{}", self.place, field.name);
        let wanted = (nested.verb == NestedVerb::Row)
            .then_some(nested.references)
            .flatten();

        Ok(Self {
            table,
            name,
            key: nested.key,
            governed,
            restricted: governed,
            of,
            input,
            returned: Vec::new(),
            place,
        }
        .returning(wanted))
    }

    /// Sets the columns returned for each row: the key, the columns that rows of other tables refer
    /// to, and the `wanted` column.
    fn returning(mut self, wanted: Option<&'static str>) -> Self {
        let referred = self.to_many().filter_map(|(_, nested)| nested.references);
        let mut returned = vec![self.key];
        for column in referred.chain(wanted) {
            if !returned.contains(&column) {
                returned.push(column);
            }
        }

        self.returned = returned;

        self
    }

    /// The fields that hold a single row, which the outer row refers to.
    pub(super) fn to_one(&self) -> impl Iterator<Item = NestedField<'a>> + use<'a> {
        nested_fields(self.input).filter(|(_, nested)| nested.verb == NestedVerb::Row)
    }

    /// The fields that hold rows referring to the outer row.
    pub(super) fn to_many(&self) -> impl Iterator<Item = NestedField<'a>> + use<'a> {
        nested_fields(self.input).filter(|(_, nested)| nested.verb != NestedVerb::Row)
    }

    /// Creates a row of this table from a document.
    pub(super) fn row(&self, mut document: Fields, path: String) -> NewRow<'a> {
        let taken =
            |(field, _): NestedField<'a>| Some((field.rust.as_str(), document.take(&field.rust)?));
        let nested = nested_fields(self.input).filter_map(taken).collect();
        NewRow {
            columns: document,
            nested,
            path,
            origin: Origin::Added,
        }
    }

    /// Creates a row of a nested table, where `id` means the key column, as in arguments.
    pub(super) fn nested_row(&self, mut document: Fields, path: String) -> NewRow<'a> {
        // Without an id the key column keeps its default, which an explicit null would override.
        if let Some(id) = document.take("id").filter(|id| !id.is_null()) {
            document.insert(self.key.to_owned(), id);
        }
        self.row(document, path)
    }

    /// The client-facing name of a column: the name of its input field.
    pub(super) fn field_of(&self, column: &str) -> Option<&'a str> {
        self.input?
            .fields
            .values()
            .find(|field| field.rust == column)
            .map(|field| field.name.as_str())
    }

    /// The failure of a write that the database skipped without an error, as triggers and rules
    /// can, with its path in the arguments.
    pub(super) fn not_taken(&self, path: Option<&str>) -> Undone {
        let message = format!("the database did not take the change of `{}`", self.name);
        Undone::failure(
            "conflict:not_taken",
            match path {
                Some(path) => format!("`{path}`: {message}"),
                None => message,
            },
        )
    }

    /// The failure of a non-nullable column without a value, if clients can provide one.
    pub(super) fn required(&self, qualified: &str, rows: &[NewRow<'a>]) -> Option<Undone> {
        let column = qualified
            .rsplit('.')
            .next()
            .filter(|column| self.table.has_column(qualified, column))?;
        let holder = || {
            self.to_one()
                .find(|(_, nested)| nested.column == column)
                .map(|(field, _)| field.name.as_str())
        };

        let field = self.field_of(column).or_else(holder)?;
        let row = rows.iter().find(|row| row.lacks(column))?;
        let path = format!("{}.{field}", row.path);

        Some(
            Undone::failure(
                "validation:required",
                format!("`{path}`: a value is required"),
            )
            .at(&path),
        )
    }

    /// The value of a returned column.
    pub(super) fn value<'v>(&self, values: &'v [String], column: &str) -> Option<&'v String> {
        values.get(
            self.returned
                .iter()
                .position(|returned| *returned == column)?,
        )
    }
}

impl NewRow<'_> {
    /// Takes out the value of a field that holds rows of another table, unless it is omitted or
    /// null.
    pub(super) fn take(&mut self, field: &str) -> Option<ExactJson> {
        let at = self.nested.iter().position(|(name, _)| *name == field)?;
        Some(self.nested.swap_remove(at).1).filter(|value| !value.is_null())
    }

    /// Whether it is written without a value in a column.
    fn lacks(&self, column: &str) -> bool {
        match self.origin {
            // Omitted columns keep their values.
            Origin::There(_) => self.columns.get(column).is_some_and(ExactJson::is_null),
            Origin::Added | Origin::Either => !self.has(column),
        }
    }

    /// Whether a column has a value other than null.
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns
            .get(column)
            .is_some_and(|value| !value.is_null())
    }
}

impl TableMutation<'_> {
    /// Returns the type if row policies apply to it. If there are policies, a table without a type
    /// is not written, because it is unclear which of them would apply to its rows.
    fn governed(&self, of: Option<TypeIndex>) -> Result<Option<TypeIndex>, Error> {
        let Some(rules) = &self.db.rules else {
            return Ok(None);
        };
        let untold = || {
            Error::internal("a nested table has no type that says whose row policies hold for it")
        };
        let of = of.ok_or_else(untold)?;
        Ok(rules.rule(Subject::Rows(of))?.map(|_| of))
    }
}
