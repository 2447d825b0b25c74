//! The select list: the values to read for each row.

use std::fmt::Write as _;

use super::query::{CheckedText, Query, Selected, Subquery};
use crate::sql::Builder;
use crate::sql::expr::{Operand, RowScope, Scope, Select, Tie};
use svc_core::schema::Relation;
use svc_postgres::{DbError, quote_literal};

/// The bytes of a text that is UTF-8, in the database's character set `SQL_ASCII`, in which each
/// byte is a character: without overlong forms, surrogates and numbers above U+10FFFF.
const UTF8: &str = r"^([\u0001-\u007f]|[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})*$";

impl<'a> Builder<'a> {
    /// Writes the select list of a query, followed by its guards.
    pub(super) fn select_list(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        tie: Option<Tie<'_>>,
        as_record: bool,
    ) -> Result<(), DbError> {
        if as_record {
            self.text.push_str("ROW(");
        }

        if query.list.is_empty() {
            self.text.push_str("1::int4");
        }

        for (index, selected) in query.list.iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.selected(rows, query, selected, tie)?;
        }

        for guard in self.guards(rows, query)? {
            // Writing to a String cannot fail.
            let _ = write!(self.text, ", {}", guard.sql);
        }

        if as_record {
            self.text.push(')');
        }

        Ok(())
    }

    fn selected(
        &mut self,
        rows: &RowScope<'a>,
        query: &Query,
        selected: &Selected,
        tie: Option<Tie<'_>>,
    ) -> Result<(), DbError> {
        let scope = Scope::Row(rows.clone());
        match selected {
            Selected::Column(name, select) => {
                let column = self.masked(&scope, name, rows.column(name))?;
                let (before, after) = select.around();
                self.text.extend([before, column.as_str(), after]);
            }
            Selected::Key(name) => self.data_key(rows, &scope, name)?,
            Selected::Utf8(text) => self.utf8(rows, &scope, text)?,
            Selected::NotUtf8(text) => {
                let (value, _) = self.checked_text(rows, &scope, text)?;
                self.text.push_str(&matches_utf8(&value, "!~"));
            }
            Selected::Call(call, select) => {
                let value = self.called(&scope, call, Self::plain_call)?.sql;
                let (before, after) = select.around();
                self.text.extend([before, value.as_str(), after]);
            }
            Selected::Related(relation, part) => self.related_subquery(&scope, relation, part)?,
            Selected::BadKey(relation) => self.bad_key(&scope, relation)?,
            Selected::Bad(value) => {
                let bad = self.group_value(&scope, value)?.is_bad();
                let _ = write!(self.text, "bool_or({bad})");
            }
            Selected::Edge(query) => self.edge(rows, query, tie)?,
            Selected::Rows(query) => {
                let inner = self.rows(query.row, rows.depth + 1)?;
                self.text.push_str("ARRAY(");
                self.query(&inner, query, tie, true)?;
                self.text.push(')');
            }
            Selected::OrderKeys => self.order_key_texts(&scope, query)?,
            Selected::Value(value, form) => {
                let operand = self.group_value(&scope, value)?;
                self.text.push_str(&operand.shown(&operand.sql, *form));
            }
            Selected::Count => self.text.push_str("count(*)"),
            Selected::Aggregate(function, column, form) => {
                let operand = self.operand(&scope, column)?;
                let aggregate = operand.aggregate(*function, self.careful);
                self.text.push_str(&operand.shown(&aggregate, *form));
            }
        }

        Ok(())
    }

    /// Writes a subquery over the rows that a relation leads to.
    fn related_subquery(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        part: &Subquery,
    ) -> Result<(), DbError> {
        let keys = self.related_keys(scope, relation)?;
        let from: Vec<_> = keys.into_iter().map(|key| key.sql).collect();
        let tie = Tie {
            relation,
            from: &from,
        };

        self.subquery(part, scope.depth() + 1, Some(tie))
    }

    /// Writes whether a careful cast cannot read one of the row's keys of a relation.
    fn bad_key(&mut self, scope: &Scope<'a>, relation: &Relation) -> Result<(), DbError> {
        let keys = self.related_keys(scope, relation)?;
        let bad: Vec<_> = keys.iter().map(Operand::is_bad).collect();
        self.text.push_str(&bad.join(" OR "));
        Ok(())
    }

    /// Writes the order keys as a list of texts.
    fn order_key_texts(&mut self, scope: &Scope<'a>, query: &Query) -> Result<(), DbError> {
        let keys = self.order_keys(scope, query);
        let texts = keys
            .iter()
            .map(|key| Ok(format!("({})::text", self.order_operand(scope, key)?.sql)))
            .collect::<Result<Vec<_>, DbError>>()?;
        let _ = write!(self.text, "ARRAY[{}]", texts.join(", "));
        Ok(())
    }

    /// Writes a value whose text is UTF-8, otherwise null.
    fn utf8(
        &mut self,
        rows: &RowScope<'a>,
        scope: &Scope<'a>,
        text: &CheckedText,
    ) -> Result<(), DbError> {
        let (value, select) = self.checked_text(rows, scope, text)?;
        let (before, after) = select.around();
        let _ = write!(
            self.text,
            "{before}(CASE WHEN {} THEN {value} END){after}",
            matches_utf8(&value, "~")
        );
        Ok(())
    }

    /// Returns a value whose text is checked, and how to select it.
    fn checked_text(
        &mut self,
        rows: &RowScope<'a>,
        scope: &Scope<'a>,
        text: &CheckedText,
    ) -> Result<(String, Select), DbError> {
        Ok(match text {
            CheckedText::Column(name, select) => {
                (self.masked(scope, name, rows.column(name))?, *select)
            }
            CheckedText::Key(name) => {
                let key = format!("{}->{}", rows.column("data"), quote_literal(name));
                (self.masked(scope, name, key)?, Select::Plain)
            }
        })
    }

    /// Writes a key of `data`.
    fn data_key(
        &mut self,
        rows: &RowScope<'a>,
        scope: &Scope<'a>,
        name: &str,
    ) -> Result<(), DbError> {
        // Only masked keys are read from `json`.
        let is_json = rows.source.data().is_some_and(|data| data.name == "json");
        let data = [&*rows.column("data"), if is_json { "::jsonb" } else { "" }].concat();
        let key = self.masked(scope, name, format!("{data}->{}", quote_literal(name)))?;
        self.text.push_str(&key);
        Ok(())
    }
}

/// A comparison of the text of a value with [`UTF8`].
fn matches_utf8(value: &str, operator: &str) -> String {
    format!(
        "({value})::text COLLATE pg_catalog.\"C\" {operator} {}",
        quote_literal(UTF8)
    )
}
