//! Statements that write to the rows of a table, with names from the program and the catalog, and
//! values bound as a single document.

mod conflict;
mod effect_log;
mod several;
mod values;

pub use self::conflict::{Conflict, ConflictAction};
pub use self::effect_log::{Effect, EffectLog};
pub use self::several::RowLock;
use self::values::columns_of;
use super::catalog::functions::ArgForm;
use super::catalog::{Catalog, ColumnType, Source};
use super::statement::quote;
use super::{Param, Statement, StatementSubject, StatementText};
use svc_core::exact_json::{ExactJson, Fields};

/// A table to write to, with the columns named by the program.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    source: &'a Source,
    key: &'a ColumnType,
}

/// The items of a list, each with its number.
const ITEMS: &str = "jsonb_array_elements($1::jsonb) WITH ORDINALITY AS i(v, n)";

impl<'a> Table<'a> {
    /// A table with the columns that are written or compared.
    ///
    /// # Errors
    /// Why the values cannot be written there.
    pub fn new(
        catalog: &'a Catalog,
        name: &str,
        key: &str,
        columns: &[(&str, ArgForm)],
    ) -> Result<Self, String> {
        let Some(source) = catalog.source(name) else {
            return Err(format!(
                "the table `{name}` does not exist, or the service may not read it"
            ));
        };

        let column = |column: &str| {
            let unknown =
                || format!("`{name}` has no column `{column}`; name the field as its column");
            source.columns.get(column).ok_or_else(unknown)
        };

        for (name, form) in columns {
            column(name)?
                .takes(*form)
                .map_err(|why| format!("the column `{name}` of `{}` {why}", source.name))?;
        }

        let unknown = || {
            format!(
                "`{name}` has no column `{key}`; name the one with the view's `id`, as in `key = \"…\"`"
            )
        };

        Ok(Self {
            source,
            key: source.columns.get(key).ok_or_else(unknown)?,
        })
    }

    /// Returns why rows with equal values in some columns are not found, if so. The indexes behind
    /// a view are unknown.
    pub fn lacks_index(&self, conflict: &[&str]) -> Option<String> {
        let mut wanted = conflict.to_vec();
        wanted.sort_unstable();
        let is_there =
            !self.source.is_table || self.source.unique.iter().any(|columns| *columns == wanted);
        let columns = conflict
            .iter()
            .map(|column| format!("`{column}`"))
            .collect::<Vec<_>>()
            .join(", ");

        (!is_there).then(|| format!("`{}` has no unique index on {columns}", self.source.name))
    }

    /// Returns why a column omitted from every item does not reveal whether a row already exists,
    /// if so.
    pub fn lacks_default(&self, column: &str) -> Option<String> {
        let name = &self.source.name;
        match self.source.columns.contains_key(column) {
            false => Some(format!("`{name}` has no column `{column}`")),
            true if self.source.defaults.contains_key(column) => None,
            true => Some(format!(
                "the column `{column}` of `{name}` has no default, and the input has no such field"
            )),
        }
    }

    /// The columns whose values are known once a row is inserted, if no trigger changes it: columns
    /// whose default, if any, does not use a sequence.
    pub fn known_columns(&self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let source = self.source;
        let default = move |name: &str| source.defaults.get(name).map(String::as_str);
        let columns = source
            .columns
            .keys()
            .map(move |name| (name.as_str(), default(name)));
        columns.filter(|(_, default)| default.is_none_or(|default| !default.contains("nextval(")))
    }

    /// Selects the columns that the database fills by itself, apart from defaults. An empty name
    /// represents the columns that triggers may fill before a row is inserted.
    pub fn filled(&self) -> Statement {
        let relation = self.source.relation;
        // The bits for row-level `BEFORE INSERT` triggers.
        let text = format!(
            "SELECT attname::text FROM pg_catalog.pg_attribute \
             WHERE attrelid = {relation} AND (attgenerated <> '' OR attidentity <> '') UNION ALL SELECT '' WHERE EXISTS (\
             SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = {relation} AND NOT tgisinternal AND tgtype & 7 = 7)"
        );
        self.statement("select", text, Vec::new())
    }

    /// Whether it is the table of a column in an error, such as `tb_note.text`.
    pub fn has_column(&self, qualified: &str, column: &str) -> bool {
        let table = qualified
            .strip_suffix(column)
            .and_then(|table| table.strip_suffix('.'));
        table.is_some_and(|table| self.source.name.rsplit('.').next() == table.rsplit('.').next())
    }

    /// Whether it stores its own rows, unlike a view.
    pub fn is_table(&self) -> bool {
        self.source.is_table
    }

    /// Inserts rows and returns columns of each, in order. An existing row that stays unchanged
    /// returns nothing.
    pub fn insert(
        &self,
        items: &[Fields],
        conflict: Option<Conflict<'_>>,
        returning: &[&str],
    ) -> Statement {
        let columns = columns_of(items);
        let is_even = items.iter().all(|item| item.len() == columns.len());
        let (names, values) = match (columns.is_empty(), is_even) {
            // All columns are left to the table; `DEFAULT VALUES` would insert only one row.
            (true, _) => (
                self.key.quoted.clone(),
                format!("VALUES {}", vec!["(DEFAULT)"; items.len()].join(", ")),
            ),
            (false, true) => {
                let values: Vec<_> = columns
                    .iter()
                    .map(|column| self.value("i.v", column))
                    .collect();
                (
                    self.names(&columns),
                    format!("SELECT {} FROM {ITEMS} ORDER BY i.n", values.join(", ")),
                )
            }
            (false, false) => (
                self.names(&columns),
                format!("VALUES {}", self.rows(items, &columns)),
            ),
        };

        let mut params = match (columns.is_empty(), is_even) {
            (true, _) => Vec::new(),
            (false, true) => vec![list(items)],
            (false, false) => items.iter().map(document).collect(),
        };

        let table = &self.source.quoted;
        let (alias, conflict) = match conflict {
            Some(conflict) => (" AS t", self.on_conflict(conflict, &columns, &mut params)),
            None => ("", String::new()),
        };

        let returned = self.returned("", returning);
        let text =
            format!("INSERT INTO {table}{alias} ({names}) {values}{conflict} RETURNING {returned}");

        self.statement("insert", text, params)
    }

    /// Updates the row selected by the keys, and returns columns of it.
    pub fn update(
        &self,
        new: &Fields,
        keys: &[(&str, ExactJson)],
        returning: &[&str],
    ) -> Statement {
        let (table, chosen) = (&self.source.quoted, self.chosen(keys, 1));
        let set = self.set(new, "$1::jsonb");
        let text = format!(
            "UPDATE {table} SET {set} WHERE {chosen} RETURNING {}",
            self.returned("", returning)
        );
        let new = document(new);

        self.statement(
            "update",
            text,
            [new].into_iter().chain(keys.iter().map(bound)).collect(),
        )
    }

    /// Selects columns of the row with these keys, and locks it if requested.
    pub fn find(&self, keys: &[(&str, ExactJson)], locks: bool, returning: &[&str]) -> Statement {
        let (table, returned) = (&self.source.quoted, self.returned("", returning));
        let lock = if locks { " FOR UPDATE" } else { "" };
        let text = format!(
            "SELECT {returned} FROM {table} WHERE {}{lock}",
            self.chosen(keys, 0)
        );
        self.statement("select", text, keys.iter().map(bound).collect())
    }

    /// Deletes the row with these keys, and returns its key.
    pub fn delete(&self, keys: &[(&str, ExactJson)]) -> Statement {
        let (table, key) = (&self.source.quoted, &self.key.quoted);
        let text = format!(
            "DELETE FROM {table} WHERE {} RETURNING {key}::text",
            self.chosen(keys, 0)
        );
        self.statement("delete", text, keys.iter().map(bound).collect())
    }

    fn statement(&self, kind: &'static str, text: String, params: Vec<Param>) -> Statement {
        let subject = StatementSubject {
            kind,
            name: self.source.name.as_str().into(),
        };
        Statement::new(
            StatementText::about(Some(subject), text, None, Vec::new()),
            params,
        )
    }

    /// The assignments of an update by the columns of `new`, which PostgreSQL has as `document`.
    fn set(&self, new: &Fields, document: &str) -> String {
        let columns = columns_of(std::slice::from_ref(new));
        let set = columns
            .iter()
            .map(|column| format!("{} = {}", quote(column), self.value(document, column)));
        set.collect::<Vec<_>>().join(", ")
    }

    /// Columns as texts, for a select list or a `RETURNING` clause.
    fn returned(&self, of: &str, columns: &[&str]) -> String {
        columns
            .iter()
            .map(|column| format!("{of}{}::text", quote(column)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn names(&self, columns: &[&str]) -> String {
        columns
            .iter()
            .map(|column| quote(column))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Rows that leave different columns to the table, each with a separate document: PostgreSQL
    /// would parse a common document again for each value.
    fn rows(&self, items: &[Fields], columns: &[&str]) -> String {
        let row = |(index, item): (usize, &Fields)| {
            let value = |column: &&str| match item.get(column) {
                Some(_) => self.value(&format!("(${}::jsonb)", index + 1), column),
                None => "DEFAULT".to_owned(),
            };
            format!(
                "({})",
                columns.iter().map(value).collect::<Vec<_>>().join(", ")
            )
        };

        items
            .iter()
            .enumerate()
            .map(row)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The condition on the keys; their placeholders follow `before` others.
    fn chosen(&self, keys: &[(&str, ExactJson)], before: usize) -> String {
        let same = keys.iter().enumerate().map(|(index, (column, _))| {
            let cast = self.cast(column);
            format!("{} = ${}::{cast}", quote(column), before + index + 1)
        });
        same.collect::<Vec<_>>().join(" AND ")
    }
}

fn document(item: &Fields) -> Param {
    Param::Text(ExactJson::Object(item.clone()).to_string())
}

fn list(items: &[Fields]) -> Param {
    Param::Text(
        ExactJson::Array(items.iter().cloned().map(ExactJson::Object).collect()).to_string(),
    )
}

fn bound((_, value): &(&str, ExactJson)) -> Param {
    Param::Text(match value {
        ExactJson::String(text) => text.clone(),
        other => other.to_string(),
    })
}
