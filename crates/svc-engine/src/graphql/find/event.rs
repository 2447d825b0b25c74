//! The rows named by events.

use async_graphql::Value;
use futures_util::FutureExt as _;
use uuid::Uuid;

use super::conditions::{declared_filter, relation};
use super::read::Read;
use super::rows::{complete_typed, full_rows};
use super::statement_cache;
use crate::events::RowEvent;
use crate::graphql::complete::{Cells, CompletedValue, Decoded, write_row};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Admission, Calls, PlanField};
use crate::graphql::response::Path;
use crate::sql::{Column, Filter, Subject, Window, is_uuid, select_rows};
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{
    FieldKind, Model, Operator, ScalarKind, Shape, TypeIndex, TypeKind, key_text,
};
use svc_postgres::{DbError, Participant, Rows};

/// The column with the key that identifies a row in an event.
const KEY: &str = "id";

/// The conditions on rows from the arguments of a planned subscription.
pub(crate) struct EventFilter {
    row: TypeIndex,
    /// The scalar type of the rows' keys, if they have one.
    key: Option<ScalarKind>,
    conditions: Vec<Condition>,
}

/// A condition on the stored value with a name.
struct Condition {
    stored: String,
    value: SqlValue,
    filter: Filter,
    equality: Equality,
}

/// How a value of an event is compared with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Equality {
    /// As texts.
    Text,
    /// As texts, or as UUIDs.
    Id,
    /// Only by the database.
    Database,
    /// Not compared: the value is masked, so the condition is left to the read of the row, which
    /// applies the subscriber's mask.
    Masked,
}

/// Whether an event matches the conditions of a subscription.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fits,
    Differs,
    /// Only reading the row can decide.
    Unknown,
}

impl EventFilter {
    /// Returns the conditions of a field's arguments.
    ///
    /// # Errors
    /// An invalid argument.
    pub(crate) fn of(
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        row: TypeIndex,
    ) -> Result<Self, Error> {
        let mut conditions = Vec::new();
        for arg in field.args.iter() {
            if let Some(value) = cx.argument(arg)?.filter(|value| !arg.role.ignores(value)) {
                conditions.push(Condition::of(cx, row, &arg.rust, &value)?);
            }
        }

        Ok(Self {
            row,
            key: key_of(cx.model, row),
            conditions,
        })
    }

    /// The type of the rows.
    pub(crate) fn row(&self) -> TypeIndex {
        self.row
    }

    /// Whether a text can be the key of such a row, according to the scalar type of the key in the
    /// schema.
    pub(crate) fn is_key(&self, text: &str) -> bool {
        use ScalarKind::{BigInt, Decimal, Float, Int, Uuid};
        match self.key {
            // Rust parses `inf` and `nan` as well, which are no keys.
            Some(Int | BigInt | Float | Decimal) => text.parse::<f64>().is_ok_and(f64::is_finite),
            Some(Uuid) => is_uuid(text),
            _ => true,
        }
    }

    /// Returns the key of the subscribed row, if the arguments select a single row.
    pub(crate) fn only_row(&self) -> Option<String> {
        let of_key = self
            .conditions
            .iter()
            .find(|condition| condition.stored == KEY)?;
        of_key.value.text().map(Into::into)
    }

    /// Returns the conditions that must be checked on the row; `None` if the event does not match.
    pub(crate) fn left(&self, event: &RowEvent) -> Option<Vec<Filter>> {
        let mut left = Vec::new();
        for condition in &self.conditions {
            match event
                .value(&condition.stored)
                .map_or(Verdict::Unknown, |value| condition.verdict(value))
            {
                Verdict::Fits => {}
                Verdict::Differs => return None,
                Verdict::Unknown => left.push(condition.filter.clone()),
            }
        }

        Some(left)
    }

    /// Returns all conditions except the one on the key.
    pub(crate) fn besides_key(&self) -> Vec<Filter> {
        let others = self
            .conditions
            .iter()
            .filter(|condition| condition.stored != KEY);
        others.map(|condition| condition.filter.clone()).collect()
    }
}

/// Returns the scalar type of the keys of a row type.
fn key_of(model: &Model, row: TypeIndex) -> Option<ScalarKind> {
    let object = model.object(*model.possible_types(row).first()?)?;
    let field = object
        .fields
        .values()
        .find(|field| field.rust == KEY && !field.ty.is_list())?;

    match model.types[field.ty.named()].kind {
        TypeKind::Scalar { kind, .. } => Some(kind),
        _ => None,
    }
}

impl Condition {
    /// Creates the condition of an argument, on a field or on the key of a relation.
    fn of(
        cx: &ExecutionContext<'_>,
        row: TypeIndex,
        rust: &str,
        value: &Value,
    ) -> Result<Self, Error> {
        let relation = relation(cx.model, row, rust);
        let several = || Error::internal("a relation of several keys cannot be an argument");
        let keys = relation
            .map(|relation| relation.only_key().ok_or_else(several))
            .transpose()?;
        let filter = match relation {
            Some(_) => key_filter(rust, value),
            None => declared_filter(cx.model, row, rust, value)?,
        };

        let (path, value) = match &filter {
            Filter::Compare(column, _, value) => (column.path.join("."), value.clone()),
            _ => {
                return Err(Error::internal(format!(
                    "the argument `{rust}` is not a comparison"
                )));
            }
        };

        let stored = keys.map_or(path, |(from, _)| from.to_owned());
        let is_masked = |row, stored: &str| {
            cx.context
                .db()
                .rules
                .as_deref()
                .is_some_and(|rules| rules.mask(row, stored).is_some())
        };

        // Comparing the key here would reveal a related row that a policy or a mask hides from the
        // subscriber.
        let is_kept_back = match relation.zip(keys) {
            Some((relation, (_, to))) => {
                is_masked(relation.row, to) || has_policy(cx, relation.row)?
            }
            None => false,
        };

        let equality = match is_kept_back || is_masked(row, &stored) {
            true => Equality::Masked,
            false => Equality::of(cx.model, row, rust),
        };

        Ok(Self {
            stored,
            value,
            filter,
            equality,
        })
    }

    fn verdict(&self, given: &ExactJson) -> Verdict {
        let mut verdict = Verdict::Differs;
        for item in self.value.items() {
            match compare(item, given, self.equality) {
                Verdict::Fits => return Verdict::Fits,
                Verdict::Unknown => verdict = Verdict::Unknown,
                Verdict::Differs => {}
            }
        }

        verdict
    }
}

fn compare(asked: &SqlValue, given: &ExactJson, equality: Equality) -> Verdict {
    let (Some(asked), Some(given)) = (asked.text(), key_text(given)) else {
        return Verdict::Unknown;
    };

    let is_same_id =
        || matches!((asked.parse::<Uuid>(), given.parse::<Uuid>()), (Ok(a), Ok(b)) if a == b);
    match equality {
        // Before the comparison: even equality would reveal a masked value.
        Equality::Masked => Verdict::Unknown,
        _ if asked == given.as_str() => Verdict::Fits,
        Equality::Id if is_same_id() => Verdict::Fits,
        Equality::Text | Equality::Id => Verdict::Differs,
        // Values with different texts may be equal in PostgreSQL, such as `1.0` and `1.00`.
        Equality::Database => Verdict::Unknown,
    }
}

/// Whether a policy hides rows of a type from this request.
fn has_policy(cx: &ExecutionContext<'_>, row: TypeIndex) -> Result<bool, Error> {
    let rules = cx.context.db().rules.as_deref();
    Ok(rules
        .map(|rules| rules.rule(Subject::Rows(row)))
        .transpose()?
        .flatten()
        .is_some())
}

/// Returns a comparison with the key of a relation; the column has the name of the relation.
fn key_filter(relation: &str, value: &Value) -> Filter {
    let value = SqlValue::from_graphql(value);
    let operator = if matches!(value, SqlValue::List(_)) {
        Operator::In
    } else {
        Operator::Eq
    };
    Filter::Compare(Column::of(relation), operator, value)
}

impl Equality {
    /// Returns the comparison for a field's stored values, or for a relation's keys.
    fn of(model: &Model, row: TypeIndex, rust: &str) -> Self {
        use ScalarKind::{BigInt, Boolean, Id, Int, String, Uuid};

        let object = model
            .possible_types(row)
            .first()
            .and_then(|index| model.object(*index));
        let field =
            object.and_then(|object| object.fields.values().find(|field| field.rust == rust));
        let Some(field) = field.filter(|field| !field.ty.is_list()) else {
            return Self::Database;
        };

        match (&model.types[field.ty.named()].kind, field.kind) {
            (_, FieldKind::Relation(_))
            | (
                TypeKind::Scalar {
                    kind: Uuid | Id, ..
                },
                _,
            ) => Self::Id,
            (
                TypeKind::Enum(_)
                | TypeKind::Scalar {
                    kind: String | Int | BigInt | Boolean,
                    ..
                },
                _,
            ) => Self::Text,
            _ => Self::Database,
        }
    }
}

/// The row that a planned subscription sends for an event.
pub(crate) struct EventRow<'a> {
    pub(crate) row: &'a EventFilter,
    pub(crate) id: &'a str,
    /// The conditions that the event's values do not decide.
    pub(crate) filters: Vec<Filter>,
    /// The subscriber's participation in the reads shared by all subscribers that wait for the row.
    pub(crate) participant: &'a Participant,
}

impl EventRow<'_> {
    /// Returns the read of the row, under these conditions.
    fn read(&self, filters: &[Filter]) -> Read {
        let key = Filter::Compare(
            Column::of(KEY),
            Operator::Eq,
            SqlValue::Text(self.id.to_owned()),
        );

        Read {
            row: self.row.row,
            shape: Shape::Optional,
            filter: Filter::All([key].into_iter().chain(filters.iter().cloned()).collect()),
            order: Vec::new(),
            page: Some(Window {
                limit: 1,
                offset: 0,
            }),
            from: None,
            joining: None,
        }
    }
}

/// Completes the row that an event names; `None` if the subscriber has no access to such a row, or
/// none matches.
pub(crate) async fn write_event(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    event: &EventRow<'_>,
    path: &Path<'_>,
) -> Option<CompletedValue> {
    let field = admission.field();
    let read = &event.read(&event.filters).filtered(cx.context.db());
    let written = match cx
        .database
        .following(|| write(cx, field, read, event.participant, path))
        .await
    {
        Err(error) if error.is_of_data() => {
            write(&cx.careful(&error), field, read, event.participant, path).await
        }
        written => written,
    };

    let error = match written {
        Ok(row) => return row,
        Err(error) => error,
    };

    // The id comes from the database and the other values from the subscriber, so only an error of
    // the latter is sent.
    if is_of_value(&error) && !has_fit_key(cx, event).boxed().await {
        tracing::debug!(%error, "the id of an event is not a key of its rows, so the event is dropped");
        return None;
    }

    Some(CompletedValue::failed(cx, &error.into_error(), field, path))
}

fn is_of_value(error: &DbError) -> bool {
    matches!(error, DbError::BadValue(_) | DbError::Nul)
}

/// Whether the database accepts the id of an event as a key, so that a value of the subscriber must
/// have been refused.
async fn has_fit_key(cx: &ExecutionContext<'_>, event: &EventRow<'_>) -> bool {
    let reading = async {
        let catalog = cx.database.catalog().await?;

        // Without the subscriber's conditions, only the key can be refused. The rows are not looked
        // at, so they need no row filter.
        let read = event.read(&[]).reading(Vec::new(), false);
        let statement = select_rows(cx.context.db().views(&catalog), &read)?;
        cx.database.fetch(cx.session(), &statement).await
    };
    !reading.await.is_err_and(|error| is_of_value(&error))
}

async fn write(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    participant: &Participant,
    path: &Path<'_>,
) -> Result<Option<CompletedValue>, DbError> {
    let (db, catalog) = (cx.context.db(), cx.database.catalog().await?);
    if field.children.calls() > Calls::None {
        let (list, whole) = full_rows(db.views(&catalog), read.row)?;
        let statement = select_rows(db.views(&catalog), &read.clone().reading(list, cx.careful))?;
        let rows = Rows::Read(
            participant
                .rows(&db.app.database, db.session.as_ref(), statement)
                .await?,
        );

        if rows.len() == 0 {
            return Ok(None);
        }

        let decoded = Decoded::new(
            cx.model,
            &whole,
            (0..rows.len()).map(|row| Cells::Nth(&rows, row)),
        );

        return Ok(Some(
            complete_typed(cx, field, read.shape, &decoded, path)
                .boxed()
                .await,
        ));
    }

    let (statement, shape) = match cx.careful {
        true => statement_cache::anew(cx, &catalog, field, read)?,
        false => statement_cache::statement(cx, &catalog, field, read)?,
    };

    let rows = participant
        .rows(&db.app.database, db.session.as_ref(), statement)
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };

    let size = row.raw_size_bytes();

    CompletedValue::walk_rows(cx, (field, path), size, |walk, out| {
        write_row(walk, field, &shape, Some(row), path, out)
    })
    .map(Some)
}
