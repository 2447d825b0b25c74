//! Answers operations with their own statement.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use super::{Registered, Sql};
use crate::authz::Pass;
use crate::db::{DbError, Param, Rows, Statement, has_nul};
use crate::engine::coerce::VariableDef;
use crate::engine::complete::{Piece, write_answer};
use crate::engine::env::Env;
use crate::engine::execute::{Engine, Prepared};
use crate::engine::find::check_arguments;
use crate::engine::function::argument_json;
use crate::engine::path::Path;
use crate::engine::plan::{OutType, PlanField, PlanKind};
use crate::mutation::failed_call;
use crate::schema::OperationKind;
use crate::{Error, ErrorCode};

/// A statement, and the variables that are its parameters.
#[derive(Clone, Copy)]
pub(crate) struct OperationStatement<'a> {
    sql: &'a Sql,
    variables: &'a [VariableDef],
}

/// What a statement gave: its row, or why there is none.
struct Answered<'a> {
    sql: &'a Sql,
    rows: Result<Rows, Failed>,
}

/// A statement that failed.
enum Failed {
    /// In development a database that is away gives empty results, so that a client can be built first.
    Away,
    Error(Error),
}

impl Engine {
    /// Answers with the statement of a registered operation when all root fields are admitted. Otherwise they are
    /// answered one by one, so that those that are denied say so.
    pub(in crate::engine) async fn by_statement(
        &self,
        env: &Env<'_>,
        prepared: &Prepared,
        statement: OperationStatement<'_>,
    ) -> Vec<Piece> {
        let plan = &prepared.plan;
        let roots = plan.root.fields.iter().filter(|field| matches!(field.kind, PlanKind::Root(..)));
        // A gate that panics denies, and does so again where the fields are answered one by one.
        let admitted = std::panic::catch_unwind(AssertUnwindSafe(|| {
            roots.map(|field| self.gate.admit(env.context, plan.kind, field)).collect::<Result<Vec<_>, _>>()
        }));
        let passes = admitted.ok().and_then(Result::ok).unwrap_or_default();
        if passes.is_empty() {
            return self.by_field(env, prepared).await;
        }
        let refused = plan.root.fields.iter().find_map(|field| check_arguments(env, field).err());
        match refused {
            // The ordinary way says the same, and where.
            Some(_) if plan.kind == OperationKind::Query && prepared.code.is_none() => {
                return self.by_field(env, prepared).await;
            }
            Some(error) => return all_failed(env, &plan.root.fields, &error),
            None => {}
        }
        let answered = statement.run(env, &passes, plan.kind).await;
        let mut pieces = Vec::with_capacity(plan.root.fields.len());
        for field in &plan.root.fields {
            pieces.push(match field.kind {
                PlanKind::Root(..) => answered.field(env, field, &Path::Root.key(&field.key)),
                _ => self.root_field(env, prepared, field).await,
            });
        }
        pieces
    }
}

impl Registered {
    /// What answers the operation, when it has SQL.
    pub(crate) fn statement(&self) -> Option<OperationStatement<'_>> {
        let (_, info) = self.document.operation(None).ok()?;
        Some(OperationStatement { sql: self.sql.as_ref()?, variables: &info.variables })
    }
}

impl<'a> OperationStatement<'a> {
    /// Runs it; every root field that it answers has passed the gate.
    async fn run(self, env: &Env<'_>, _: &[Pass], kind: OperationKind) -> Answered<'a> {
        let rows = match AssertUnwindSafe(self.rows(env, kind)).catch_unwind().await {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(DbError::Away)) if env.development && kind == OperationKind::Query => Err(Failed::Away),
            Ok(Err(error)) => Err(Failed::Error(self.error(env, kind, error))),
            Err(panic) => {
                let why = crate::panic::text(&*panic);
                Err(Failed::Error(Error::internal(format!("running an operation's SQL panicked: {why}"))))
            }
        };
        Answered { sql: self.sql, rows }
    }

    /// A mutation is sent once, as a call of a function is.
    async fn rows(self, env: &Env<'_>, kind: OperationKind) -> Result<Rows, DbError> {
        let statement = self.with_values(env)?;
        match kind {
            OperationKind::Query => env.database.fetch(env.session(), &statement).await,
            _ => env.database.fetch_once(env.session(), &statement).await,
        }
    }

    fn with_values(self, env: &Env<'_>) -> Result<Statement, DbError> {
        let param = |(variable, used): (&VariableDef, &bool)| {
            // PostgreSQL finds no type for a parameter that stands nowhere.
            if !used {
                return Ok(Param::Text(String::new()));
            }
            let value = env.variables.get(&variable.name).cloned().unwrap_or_default();
            let json = argument_json(env.model, &variable.ty, value);
            if has_nul(&json) { Err(DbError::Nul) } else { Ok(Param::Variable(json)) }
        };
        let params = self.variables.iter().zip(&self.sql.parameters).map(param);
        Ok(Statement::new(self.sql.text.clone(), params.collect::<Result<_, _>>()?))
    }

    fn error(self, env: &Env<'_>, kind: OperationKind, error: DbError) -> Error {
        if let Some(refused) = refused_value(self.variables, &error) {
            return refused;
        }
        let error = match kind {
            OperationKind::Query => error.into_error(),
            _ => failed_call(error, env.database.constraints()),
        };
        if error.is_masked() {
            return Error::internal(format!("the SQL of {} failed: {}", self.sql.operation, error.chain()));
        }
        error
    }
}

/// What PostgreSQL says of a value that its parameter's type does not take; the value is the client's.
fn refused_value(variables: &[VariableDef], error: &DbError) -> Option<Error> {
    let DbError::Read(driver) = error else { return None };
    let fault = driver.of_database()?;
    // Only what goes wrong while a value is read has a context that begins so.
    let context = fault.where_()?.strip_prefix("unnamed portal parameter $")?;
    let digits = context.find(|char: char| !char.is_ascii_digit()).unwrap_or(context.len());
    let variable = variables.get(context[..digits].parse::<usize>().ok()?.checked_sub(1)?)?;
    // Of an enum, PostgreSQL's own message names the type.
    let why = if fault.file() == Some("enum.c") { "is not one of the enum's values" } else { fault.message() };
    let message = format!("variable `${}`: {}", variable.name, crate::scalar::shorten(why));
    fault.code().code().starts_with("22").then(|| Error::new(ErrorCode::BadUserInput, message))
}

impl Answered<'_> {
    /// The answer of one root field.
    fn field(&self, env: &Env<'_>, field: &PlanField, path: &Path<'_>) -> Piece {
        let rows = match &self.rows {
            Ok(rows) => rows,
            Err(Failed::Error(error)) => return Piece::failed(env, error, field, path),
            Err(Failed::Away) => return away(env, field, path),
        };
        let complete = || match self.column(rows, field) {
            Ok(json) => Piece::walk_into(env, json.len(), |walk, out| write_answer(walk, field, json, path, out)),
            Err(why) => Piece::failed(env, &Error::internal(why), field, path),
        };
        std::panic::catch_unwind(AssertUnwindSafe(complete)).unwrap_or_else(|panic| {
            let error = Error::internal(format!("completing the field panicked: {}", crate::panic::text(&*panic)));
            Piece::failed(env, &error, field, path)
        })
    }

    /// The JSON of a field's column.
    fn column<'r>(&self, rows: &'r Rows, field: &PlanField) -> Result<&'r [u8], String> {
        let operation = &self.sql.operation;
        if rows.len() > 1 {
            return Err(format!("the SQL of {operation} gave {} rows, and an answer is one row", rows.len()));
        }
        if rows.len() == 0 {
            return Ok(b"null");
        }
        let key = &field.key;
        let Some((column, type_name)) = rows.column(key) else {
            return Err(format!("the SQL of {operation} gives no column {key:?}; name it with `AS \"{key}\"`"));
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

/// One statement answers all fields, so a bad argument of one of them keeps it from running for any.
fn all_failed(env: &Env<'_>, fields: &[PlanField], error: &Error) -> Vec<Piece> {
    fields.iter().map(|field| Piece::failed(env, error, field, &Path::Root.key(&field.key))).collect()
}

fn away(env: &Env<'_>, field: &PlanField, path: &Path<'_>) -> Piece {
    let empty: &[u8] = match field.ty.nullable() {
        (OutType::List(_), _) => b"[]",
        (_, false) => b"null",
        _ => return Piece::failed(env, &DbError::Away.into_error(), field, path),
    };
    Piece::walk(env, |_, out| {
        out.extend_from_slice(empty);
        Ok(())
    })
}
