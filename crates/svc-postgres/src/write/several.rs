//! Statements that write several rows of a table, which refer to rows of another table or are
//! selected by their keys.

use super::values::columns_of;
use super::{ITEMS, Table, document, list};
use crate::{Param, Statement, quote, quote_literal};
use svc_core::exact_json::Fields;

/// A lock on rows until the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLock {
    /// For updates of columns other than the key: other transactions may still insert rows that
    /// refer to the locked ones.
    Update,
    Delete,
}

/// The values of a list, as rows.
fn values(number: usize) -> String {
    format!("unnest(${number}::text[]) AS u(v)")
}

impl Table<'_> {
    /// Selects the keys of the rows that refer to one of these keys through a column, and locks the
    /// rows if requested; restricted to the keys in `among`, if given.
    pub fn referring(
        &self,
        column: &str,
        to: &[String],
        among: Option<&[String]>,
        locks: bool,
    ) -> Statement {
        let (table, key) = (&self.source.quoted, &self.key.quoted);
        let (refers, params) = self.refers(column, to, among);

        // Rows are locked in the order of their keys, so that concurrent mutations do not deadlock.
        let lock = if locks { " FOR UPDATE" } else { "" };
        let text = format!("SELECT {key}::text FROM {table} WHERE {refers} ORDER BY {key}{lock}");

        self.statement("select", text, params)
    }

    /// Locks the rows that [`referring`](Self::referring) selects and the `given` rows, and selects
    /// their keys. One statement locks both, because mutations that exchange rows would otherwise
    /// lock them in opposite orders.
    pub fn lock_links(
        &self,
        column: &str,
        to: &[String],
        among: Option<&[String]>,
        given: &[String],
    ) -> Statement {
        let (table, key, cast) = (&self.source.quoted, &self.key.quoted, self.key.cast());
        let (refers, mut params) = self.refers(column, to, among);
        params.push(Param::Texts(given.to_vec()));
        let given = format!("SELECT v::{cast} FROM {}", values(params.len()));

        // The array lets PostgreSQL use the indexes. The conditions are repeated, because they are
        // checked again on a row that another transaction has changed before it was locked.
        let text = format!(
            "SELECT {key}::text FROM {table} \
             WHERE {key} = ANY (ARRAY(SELECT {key} FROM {table} WHERE {refers} UNION ALL {given})) \
             AND ({refers} OR {key} IN ({given})) ORDER BY {key} FOR UPDATE"
        );

        self.statement("select", text, params)
    }

    /// The condition that a row refers to one of these keys through a column, and has one of the
    /// keys in `among`, if given. The placeholders of its values are the first ones.
    fn refers(
        &self,
        column: &str,
        to: &[String],
        among: Option<&[String]>,
    ) -> (String, Vec<Param>) {
        let (key, cast) = (&self.key.quoted, self.cast(column));
        let mut text = format!(
            "({} IN (SELECT v::{cast} FROM {})",
            quote(column),
            values(1)
        );
        let mut params = vec![Param::Texts(to.to_vec())];
        if let Some(among) = among {
            text.push_str(&format!(
                " AND {key} IN (SELECT v::{} FROM {})",
                self.key.cast(),
                values(2)
            ));
            params.push(Param::Texts(among.to_vec()));
        }

        text.push(')');

        (text, params)
    }

    /// Selects the rows with these keys, in the order of their keys, and locks them if requested.
    pub fn find_all(&self, keys: &[String], lock: Option<RowLock>) -> Statement {
        let (table, key) = (&self.source.quoted, &self.key.quoted);
        let lock = match lock {
            Some(RowLock::Update) => " FOR NO KEY UPDATE",
            Some(RowLock::Delete) => " FOR UPDATE",
            None => "",
        };
        let text = format!(
            "SELECT {key}::text FROM {table} WHERE {} ORDER BY {key}{lock}",
            self.among(1)
        );

        self.statement("select", text, vec![Param::Texts(keys.to_vec())])
    }

    /// Writes the same values to the rows with these keys, and returns columns of each.
    pub fn update_all(&self, new: &Fields, keys: &[String], returning: &[&str]) -> Statement {
        let table = &self.source.quoted;
        let (set, returned) = (self.set(new, "i.v"), self.returned("t.", returning));

        // With `OFFSET 0`, PostgreSQL parses the document once, and not for each row and column.
        let text = format!(
            "UPDATE {table} AS t SET {set} FROM (SELECT $1::jsonb AS v OFFSET 0) AS i WHERE t.{} \
             RETURNING {returned}",
            self.among(2)
        );

        self.statement(
            "update",
            text,
            vec![document(new), Param::Texts(keys.to_vec())],
        )
    }

    /// Deletes the rows with these keys, and returns the keys of the deleted rows.
    pub fn delete_all(&self, keys: &[String]) -> Statement {
        let (table, key) = (&self.source.quoted, &self.key.quoted);
        let text = format!(
            "DELETE FROM {table} WHERE {} RETURNING {key}::text",
            self.among(1)
        );

        self.statement("delete", text, vec![Param::Texts(keys.to_vec())])
    }

    /// The condition that a row has one of the keys in a list. The array lets PostgreSQL use the
    /// index.
    fn among(&self, number: usize) -> String {
        format!(
            "{} = ANY (ARRAY(SELECT v::{} FROM {}))",
            self.key.quoted,
            self.key.cast(),
            values(number)
        )
    }

    /// Selects the rows in `keys` but not in `kept` whose column refers to one of `to`.
    pub fn left(&self, column: &str, to: &[String], keys: &[String], kept: &[String]) -> Statement {
        let (table, key, cast) = (&self.source.quoted, &self.key.quoted, self.cast(column));
        let (column, others) = (quote(column), self.others());
        let text = format!(
            "SELECT {key}::text FROM {table} WHERE {others} AND {column} IN (SELECT v::{cast} FROM {})",
            values(3)
        );

        self.statement(
            "select",
            text,
            [keys, kept, to]
                .map(|keys| Param::Texts(keys.to_vec()))
                .into(),
        )
    }

    /// Deletes the rows with these keys, except the kept ones.
    pub fn delete_others(&self, keys: &[String], kept: &[String]) -> Statement {
        let text = format!("DELETE FROM {} WHERE {}", self.source.quoted, self.others());
        self.statement(
            "delete",
            text,
            vec![Param::Texts(keys.to_vec()), Param::Texts(kept.to_vec())],
        )
    }

    /// Sets a column to null in the rows with these keys, except the kept ones.
    pub fn unlink_others(&self, column: &str, keys: &[String], kept: &[String]) -> Statement {
        let text = format!(
            "UPDATE {} SET {} = NULL WHERE {}",
            self.source.quoted,
            quote(column),
            self.others()
        );

        self.statement(
            "update",
            text,
            vec![Param::Texts(keys.to_vec()), Param::Texts(kept.to_vec())],
        )
    }

    fn others(&self) -> String {
        let (key, cast) = (&self.key.quoted, self.key.cast());
        format!(
            "{key} IN (SELECT v::{cast} FROM {}) AND {key} NOT IN (SELECT v::{cast} FROM {})",
            values(1),
            values(2)
        )
    }

    /// Updates the row selected by some columns of each item. Returns the number of the item, from
    /// 1, with columns of the row. A column that an item omits stays unchanged.
    pub fn update_each(&self, items: &[Fields], chosen: &[&str], returning: &[&str]) -> Statement {
        let table = &self.source.quoted;
        let columns: Vec<_> = columns_of(items)
            .into_iter()
            .filter(|column| !chosen.contains(column))
            .collect();
        let same = self.same(chosen);
        let returned = self.returned("t.", returning);
        if columns.is_empty() {
            let text = format!(
                "SELECT i.n::text, {returned} FROM {ITEMS} JOIN {table} AS t ON {same} ORDER BY i.n"
            );
            return self.statement("select", text, vec![list(items)]);
        }

        let set = columns.iter().map(|column| {
            let (value, quoted, key) = (
                self.value("i.v", column),
                quote(column),
                quote_literal(column),
            );
            format!("{quoted} = CASE WHEN i.v ? {key} THEN {value} ELSE t.{quoted} END")
        });

        let set = set.collect::<Vec<_>>().join(", ");
        let text = format!(
            "UPDATE {table} AS t SET {set} FROM {ITEMS} WHERE {same} RETURNING i.n::text, {returned}"
        );

        self.statement("update", text, vec![list(items)])
    }

    /// Selects the number of each item, from 1, that matches a row by some of its columns, with the
    /// row's key. Locks the rows if requested.
    pub fn find_each(&self, items: &[Fields], chosen: &[&str], locks: bool) -> Statement {
        let (table, same) = (&self.source.quoted, self.same(chosen));
        let key = &self.key.quoted;
        let mut text =
            format!("SELECT i.n::text, t.{key}::text FROM {ITEMS} JOIN {table} AS t ON {same}");
        if locks {
            // In the order of the keys, like all locks on several rows, and not of the items.
            text.push_str(&format!(" ORDER BY t.{key} FOR UPDATE OF t"));
        }

        self.statement("select", text, vec![list(items)])
    }

    /// The condition that a row equals an item in some columns.
    fn same(&self, columns: &[&str]) -> String {
        let same = columns
            .iter()
            .map(|column| format!("t.{} = {}", quote(column), self.value("i.v", column)));
        same.collect::<Vec<_>>().join(" AND ")
    }
}
