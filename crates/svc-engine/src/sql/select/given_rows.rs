//! Rows before they are written: checks whether their values alone violate policies.

use std::collections::HashSet;

use super::row_rules::RowRule;
use crate::sql::expr::{ColumnForm, Named, named};
use crate::sql::{Builder, Column, Filter, RowFilter, Subject, Views, built};
use svc_core::schema::{FieldKind, Model, TypeIndex};
use svc_postgres::{DbError, Param, Statement, quote_literal};

/// Rows of a view, as determined by the values that are written to its table.
pub(crate) struct GivenRows {
    pub(crate) row: TypeIndex,
    pub(crate) values: GivenValues,
    /// The columns whose values are available for each row; for existing rows, all are.
    pub(crate) known: HashSet<String>,
    /// The SQL of values for columns that are missing from a document.
    pub(crate) defaults: Vec<(String, String)>,
}

/// The values that rows receive, as JSON objects keyed by column.
pub(crate) enum GivenValues {
    /// The values of each new row.
    New(Vec<String>),
    /// The values of each existing row, and the ids of the rows.
    Existing {
        values: Vec<String>,
        ids: Vec<String>,
    },
    /// The values of all existing rows with these ids.
    Same { values: String, ids: Vec<String> },
}

/// Returns whether the policies and the row filter may permit each of these rows, in order: `false`
/// if the available values alone violate them. Returns `None` if neither applies to the rows.
///
/// # Errors
/// If the view is unknown, or a policy cannot decide.
pub(crate) fn may_be_permitted(
    views: Views<'_>,
    row_filter: Option<&RowFilter>,
    given: &GivenRows,
) -> Result<Option<Statement>, DbError> {
    let rule = views
        .rules
        .map(|rules| rules.rule(Subject::Rows(given.row)))
        .transpose();
    let rule = rule.map_err(DbError::refused)?.flatten();
    if rule.is_none() && row_filter.is_none() {
        return Ok(None);
    }

    let of_rule = rule.map(|rule| rule.filter.clone());
    let of_field = row_filter.map(|row_filter| {
        // As in reads of the root field.
        Filter::Strict(Box::new(row_filter.filter.clone()))
    });
    let decided = Filter::All(of_rule.into_iter().chain(of_field).collect())
        .decided_by(&|column: &Column| given.knows(views.model, column));
    let rule = RowRule {
        filter: decided,
        members: None,
    };

    built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
        builder.given_rows(&rule, given)
    })
    .map(Some)
}

impl Builder<'_> {
    fn given_rows(&mut self, rule: &RowRule, given: &GivenRows) -> Result<(), DbError> {
        let (rows, there) = (self.rows(given.row, 0)?, self.rows(given.row, 1)?);
        let (view, alias, there) = (&rows.source.quoted, rows.alias(), there.alias());
        let id = match rows.source.columns.get("id") {
            Some(column) => format!("{there}.{}::text", column.quoted),
            None => format!("{there}.data->>'id'"),
        };

        self.text.push_str("SELECT (");
        if given.values.are_of_existing() {
            // A row that has been deleted meanwhile violates nothing.
            self.text.push_str(&format!("{id} IS NULL OR "));
        }

        self.ruling(|builder| builder.rule(&rows, rule))?;

        let default = |(name, sql): &(String, String)| {
            format!("jsonb_build_object({}, ({sql})) || ", quote_literal(name))
        };

        // The right side of `||` wins, so a given value replaces the default of its column.
        let document = format!(
            "{}g.v::jsonb",
            given.defaults.iter().map(default).collect::<String>()
        );
        let list = self.given_list(&given.values);

        // Columns that are missing from the document get their values from the base: null for a new
        // row, and the stored values for an existing one.
        let (base, join) = match given.values.are_of_existing() {
            true => (
                there.to_string(),
                format!(" LEFT JOIN {view} AS {there} ON {id} = g.id"),
            ),
            false => (format!("NULL::{view}"), String::new()),
        };

        let document = match (rows.source.data(), given.values.are_of_existing()) {
            (None, _) => document,
            // A policy reads a field from its column or from `data`, so both contain the new
            // values.
            (Some(_), false) => format!("jsonb_build_object('data', {document}) || {document}"),
            (Some(_), true) => {
                let whole = format!("COALESCE({there}.data::jsonb, '{{}}') || {document}");
                format!("jsonb_build_object('data', {whole}) || {document}")
            }
        };

        self.text.push_str(&format!(
            ") IS TRUE FROM {list}{join} CROSS JOIN LATERAL jsonb_populate_record({base}, {document}) AS {alias} \
             ORDER BY g.n"
        ));

        Ok(())
    }

    /// The `FROM` item `g` with the values `v`, the number `n` and, for existing rows, the `id` of
    /// each row.
    fn given_list(&mut self, given: &GivenValues) -> String {
        match given {
            GivenValues::New(values) => {
                let values = self.bind(Param::Texts(values.clone()));
                format!("unnest({values}::text[]) WITH ORDINALITY AS g(v, n)")
            }
            GivenValues::Existing { values, ids } => {
                let values = self.bind(Param::Texts(values.clone()));
                let ids = self.bind(Param::Texts(ids.clone()));
                format!("unnest({values}::text[], {ids}::text[]) WITH ORDINALITY AS g(v, id, n)")
            }
            GivenValues::Same { values, ids } => {
                let values = self.bind(Param::Text(values.clone()));
                let ids = self.bind(Param::Texts(ids.clone()));

                // `OFFSET 0` lets PostgreSQL parse the values once, and not for each row.
                format!(
                    "(SELECT s.v, u.id, u.n FROM (SELECT {values}::jsonb AS v OFFSET 0) AS s \
                     CROSS JOIN unnest({ids}::text[]) WITH ORDINALITY AS u(id, n)) AS g"
                )
            }
        }
    }
}

impl GivenValues {
    /// Whether the rows exist already.
    fn are_of_existing(&self) -> bool {
        !matches!(self, Self::New(_))
    }
}

impl GivenRows {
    /// Whether the value of a condition's column is available, or the key of the relation at its
    /// start.
    fn knows(&self, model: &Model, column: &Column) -> bool {
        let Some(first) = column.path.first().filter(|_| column.call.is_none()) else {
            return false;
        };

        let is_there = self.values.are_of_existing();
        let is_known = |name: &str| is_there || self.known.contains(name);
        match named(model, self.row, first) {
            // Triggers on an insert may add rows that refer to the new row.
            Some(Named::Relation(relation)) if !is_there && relation.from.contains(&"id") => false,
            Some(Named::Relation(relation)) => relation.from.iter().all(|key| is_known(key)),
            _ => is_known(first) && !is_computed(model, self.row, first),
        }
    }
}

/// Whether a field of a type is computed and not stored in its rows.
fn is_computed(model: &Model, row: TypeIndex, name: &str) -> bool {
    let object = model
        .possible_types(row)
        .first()
        .and_then(|index| model.object(*index));
    let field = object.and_then(|object| object.fields.values().find(|field| field.rust == name));
    field.is_some_and(|field| matches!(field.kind, FieldKind::Function(..) | FieldKind::Method(..)))
}

impl Filter {
    /// The part of the condition that the given columns decide; the remaining parts are assumed to
    /// hold.
    fn decided_by(&self, knows: &impl Fn(&Column) -> bool) -> Self {
        let each = |filters: &[Filter]| {
            filters
                .iter()
                .map(|filter| filter.decided_by(knows))
                .collect()
        };

        let or_holds = |is_decided: bool| {
            if is_decided {
                self.clone()
            } else {
                Self::All(Vec::new())
            }
        };

        match self {
            Self::All(all) => Self::All(each(all)),
            Self::Any(any) => Self::Any(each(any)),
            Self::Strict(inner) => Self::Strict(Box::new(inner.decided_by(knows))),
            // Part of a negated condition cannot be assumed to hold.
            Self::Not(inner) => or_holds(inner.is_decided_by(knows)),
            Self::Compare(column, ..) | Self::Some(column, _) | Self::Aggregate(column, _) => {
                or_holds(knows(column))
            }
        }
    }

    fn is_decided_by(&self, knows: &impl Fn(&Column) -> bool) -> bool {
        match self {
            Self::All(filters) | Self::Any(filters) => {
                filters.iter().all(|filter| filter.is_decided_by(knows))
            }
            Self::Strict(inner) | Self::Not(inner) => inner.is_decided_by(knows),
            Self::Compare(column, ..) | Self::Some(column, _) | Self::Aggregate(column, _) => {
                knows(column)
            }
        }
    }
}
