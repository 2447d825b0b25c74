//! Executes operations with their own statement.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{Registered, Sql};
use crate::graphql::coerce::VariableDef;
use crate::graphql::complete::{CompletedValue, write_answer};
use crate::graphql::context::ExecutionContext;
use crate::graphql::context::function_arguments::argument_json;
use crate::graphql::plan::{AllAdmitted, OutType, Plan, PlanField};
use crate::graphql::response::Path;
use crate::mutation_result::{failed_call, fails};
use crate::repository::Db;
use svc_core::schema::{OnFailure, OperationKind, ResultMeta};
use svc_core::{Error, ErrorCode};
use svc_postgres::{Commit, DbError, Param, Rows, Statement, Written, cell, has_nul};

/// A statement, and the variables that are its parameters.
#[derive(Clone, Copy)]
pub(crate) struct OperationStatement<'a> {
    sql: &'a Sql,
    variables: &'a [VariableDef],
}

/// The result of a statement: its row, or the reason why there is none.
pub(in crate::graphql) struct Answered<'a> {
    sql: &'a Sql,
    rows: Result<Written, Failed>,
}

/// A statement that failed.
enum Failed {
    /// In development, an unreachable database returns empty results, so that a client can be built
    /// first.
    Away,
    Error(Error),
}

impl Registered {
    /// Returns the statement that answers the operation, if it has SQL.
    pub(crate) fn statement(&self) -> Option<OperationStatement<'_>> {
        let (_, info) = self.document.operation(None).ok()?;
        Some(OperationStatement {
            sql: self.sql.as_ref()?,
            variables: &info.variables,
        })
    }
}

impl<'a> OperationStatement<'a> {
    /// Runs the statement. Every root field that it answers has passed the gate.
    pub(in crate::graphql) async fn run(
        self,
        cx: &ExecutionContext<'_>,
        admitted: AllAdmitted<'_>,
    ) -> Answered<'a> {
        let plan = admitted.plan();
        let kind = plan.kind;
        let rows = match AssertUnwindSafe(self.rows(cx, plan)).catch_unwind().await {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(DbError::Unreachable)) if cx.development && kind == OperationKind::Query => {
                // Keeps the empty result out of the response cache.
                cx.context.request.note_incomplete();
                Err(Failed::Away)
            }
            Ok(Err(error)) => Err(Failed::Error(self.error(cx, kind, error))),
            Err(panic) => Err(Failed::Error(svc_telemetry::panic::error(
                "running an operation's SQL",
                &*panic,
            ))),
        };

        Answered {
            sql: self.sql,
            rows,
        }
    }

    /// Runs the statement. A mutation is sent once, like a function call, and undone if one of its
    /// results is a failure.
    async fn rows(self, cx: &ExecutionContext<'_>, plan: &Plan) -> Result<Written, DbError> {
        let statement = self.with_values(cx)?;
        if plan.kind == OperationKind::Query {
            let read = || cx.database.fetch(cx.session(), &statement);
            let rows = cx.database.following(read).await?;
            return Ok(Written { rows, kept: true });
        }

        let db = cx.context.db();
        let results: Vec<_> = plan
            .root
            .fields
            .iter()
            .filter_map(|field| undone_by(cx, field))
            .collect();

        if results.is_empty() {
            return self.write(db, &statement, Commit::Always).await;
        }

        let keeps = |rows: &[Row]| match rows {
            // Without a row each field is null, which is no failure.
            [] => true,
            [row] => !results
                .iter()
                .any(|(key, result)| json_of(row, key).is_some_and(|json| fails(result, json))),
            // More than one row is not a valid result.
            _ => false,
        };

        self.write(db, &statement, Commit::If(&keeps)).await
    }

    async fn write(
        self,
        db: &Db,
        statement: &Statement,
        commit: Commit<'_>,
    ) -> Result<Written, DbError> {
        let database = &db.app.database;
        let run = || database.fetch_once(db.caller(), statement, commit);
        if !self.sql.calls_procedure() {
            return database.retrying(run).await;
        }

        // A procedure may commit on its own before it fails, so it is never run again.
        let written = run().await;
        if let (Err(_), Some(ledger)) = (&written, &db.ledger) {
            ledger.unseen();
        }

        written
    }

    fn with_values(self, cx: &ExecutionContext<'_>) -> Result<Statement, DbError> {
        let param = |(variable, used): (&VariableDef, &bool)| {
            // PostgreSQL cannot infer the type of a parameter that does not occur in the statement.
            if !used {
                return Ok(Param::Text(String::new()));
            }

            // SQL has no absent values, so an omitted variable is null.
            let value = cx
                .variables
                .get(&variable.name)
                .cloned()
                .unwrap_or_default();

            let json = argument_json(cx.model, &variable.ty, value);
            if has_nul(&json) {
                Err(DbError::Nul)
            } else {
                Ok(Param::Variable(json))
            }
        };

        let params = self.variables.iter().zip(&self.sql.parameters).map(param);
        Ok(Statement::new(
            self.sql.text.clone(),
            params.collect::<Result<_, _>>()?,
        ))
    }

    fn error(self, cx: &ExecutionContext<'_>, kind: OperationKind, error: DbError) -> Error {
        if let Some(refused) = refused_value(self.variables, &error) {
            return refused;
        }

        let error = match kind {
            OperationKind::Query => error.into_error(),
            _ => failed_call(error, &cx.context.db().app.constraints),
        };

        if error.is_masked() {
            return Error::internal(format!(
                "the SQL of {} failed: {}",
                self.sql.operation,
                error.chain()
            ));
        }

        if error.code() == ErrorCode::ServiceUnavailable.as_str() {
            let source = format!(
                "the SQL of {} failed: {}",
                self.sql.operation,
                error.chain()
            );
            return error.with_source(source);
        }

        error
    }
}

/// Returns the error for a client's value that the type of its parameter does not accept, with
/// PostgreSQL's message.
fn refused_value(variables: &[VariableDef], error: &DbError) -> Option<Error> {
    let DbError::Driver(driver) = error else {
        return None;
    };

    let fault = driver.of_database()?;

    // Only errors from reading a value have a context with this prefix.
    let context = fault.where_()?.strip_prefix("unnamed portal parameter $")?;
    let digits = context
        .find(|char: char| !char.is_ascii_digit())
        .unwrap_or(context.len());
    let variable = variables.get(context[..digits].parse::<usize>().ok()?.checked_sub(1)?)?;

    // For an enum, PostgreSQL's own message names the type.
    let why = if fault.file() == Some("enum.c") {
        "is not one of the enum's values"
    } else {
        fault.message()
    };

    let message = format!(
        "variable `${}`: {}",
        variable.name,
        svc_core::exact_json::shorten(why)
    );

    // Only data exceptions (class 22) are about the value itself.
    fault
        .code()
        .code()
        .starts_with("22")
        .then(|| Error::new(ErrorCode::BadUserInput, message))
}

impl Answered<'_> {
    /// Completes one root field from the result.
    pub(in crate::graphql) fn field(
        &self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        path: &Path<'_>,
    ) -> CompletedValue {
        let rows = match &self.rows {
            Ok(Written { rows, kept: true }) => rows,
            // The field that failed returns its own failure; the others report that nothing was
            // done.
            Ok(Written { rows, kept: false })
                if rows.len() != 1 || self.failed(cx, rows, field) =>
            {
                rows
            }
            Ok(_) => {
                let message = "the mutation was not done, as another field of the operation failed";
                return CompletedValue::failed(
                    cx,
                    &Error::new(ErrorCode::NotDone, message),
                    field,
                    path,
                );
            }
            Err(Failed::Error(error)) => return CompletedValue::failed(cx, error, field, path),
            Err(Failed::Away) => return away(cx, field, path),
        };

        let complete = || match self.column(rows, field) {
            Ok(json) => CompletedValue::walk_into(cx, (field, path), json.len(), |walk, out| {
                write_answer(walk, field, json, path, out)
            }),
            Err(why) => CompletedValue::failed(cx, &Error::internal(why), field, path),
        };

        std::panic::catch_unwind(AssertUnwindSafe(complete)).unwrap_or_else(|panic| {
            let error = svc_telemetry::panic::error("completing the field", &*panic);
            CompletedValue::failed(cx, &error, field, path)
        })
    }

    /// Whether a field's own result is a failure.
    fn failed(&self, cx: &ExecutionContext<'_>, rows: &Rows, field: &PlanField) -> bool {
        let result = undone_by(cx, field);
        result.is_some_and(|(_, result)| {
            self.column(rows, field)
                .is_ok_and(|json| fails(result, json))
        })
    }

    /// The JSON of a field's column.
    fn column<'r>(&self, rows: &'r Rows, field: &PlanField) -> Result<&'r [u8], String> {
        let operation = &self.sql.operation;
        if rows.len() > 1 {
            return Err(format!(
                "the SQL of {operation} gave {} rows, and an answer is one row",
                rows.len()
            ));
        }

        if rows.len() == 0 {
            return Ok(b"null");
        }

        let key = &field.key;
        let Some((column, type_name)) = rows.column(key) else {
            return Err(format!(
                "the SQL of {operation} gives no column {key:?}; name it with `AS \"{key}\"`"
            ));
        };

        let bytes = rows.cell(0, column);

        match (type_name, bytes) {
            ("json" | "jsonb", None) => Ok(b"null"),
            ("json", Some(json)) => Ok(json),
            // The first byte is the format's version.
            ("jsonb", Some(json)) => Ok(json.get(1..).unwrap_or_default()),
            (other, _) => Err(format!(
                "the column {key:?} of the SQL of {operation} is a {other}, and has to be jsonb or json; use `to_jsonb(…)`"
            )),
        }
    }
}

/// The key and the result of a root field whose failure undoes the operation.
fn undone_by<'p>(
    cx: &ExecutionContext<'_>,
    field: &'p PlanField,
) -> Option<(&'p str, &'static ResultMeta)> {
    let def = cx.model.field("Mutation", &field.name)?;
    let keeps = field.root().and_then(|root| root.on_failure()) == Some(OnFailure::Commit);
    cx.model
        .results
        .get(&def.ty.named())
        .filter(|_| !keeps)
        .map(|result| (field.key.as_str(), *result))
}

/// The JSON in a column.
fn json_of<'r>(row: &'r Row, name: &str) -> Option<&'r [u8]> {
    let index = row
        .columns()
        .iter()
        .position(|column| column.name() == name)?;
    let bytes = cell(row, index)?;

    // The first byte of jsonb is the format's version.
    if *row.columns()[index].type_() == Type::JSONB {
        bytes.get(1..)
    } else {
        Some(bytes)
    }
}

fn away(cx: &ExecutionContext<'_>, field: &PlanField, path: &Path<'_>) -> CompletedValue {
    let empty: &[u8] = match field.ty.nullable() {
        (OutType::List(_), _) => b"[]",
        (_, false) => b"null",
        _ => return CompletedValue::failed(cx, &DbError::Unreachable.into_error(), field, path),
    };

    CompletedValue::walk(cx, |_, out| {
        out.extend_from_slice(empty);
        Ok(())
    })
}
