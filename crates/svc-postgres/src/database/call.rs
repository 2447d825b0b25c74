//! Function calls. A call is sent once: if the connection is lost, it is unknown whether the call
//! ran.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::Row;

use crate::catalog::functions::{self, ArgForm, Function, FunctionSpec, ROLLED_BACK};
use crate::driver::{AtomicTransaction, Commit, DriverError, FromRow as _, OpenTransaction};
use crate::statement::recorder::{self, StatementKind};
use crate::{Database, DbError, EffectLog, Rows, Session, Statement};
use svc_core::exact_json::ExactJson;

/// A call.
pub struct Call<'a> {
    pub name: &'a str,
    pub args: &'a [(ArgForm, Option<ExactJson>)],
    /// Whether the caller expects a list.
    pub list: bool,
    /// The condition on the result's JSON, `j`, that rolls the call back.
    pub undone_if: Option<&'static str>,
}

/// The result of a call.
#[derive(Debug)]
pub struct Called {
    /// The result as JSON.
    pub json: String,
    /// Whether its writes are kept.
    pub kept: bool,
}

/// The result of a write.
#[derive(Debug)]
pub struct Written {
    pub rows: Rows,
    /// Whether it is committed.
    pub kept: bool,
}

/// The request that writes.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    pub session: &'a Session,
    /// The ledger of the running mutation; `None` in a query.
    pub ledger: Option<&'a EffectLog>,
    /// The transaction for its calls, if they do not run in their own.
    pub transaction: Option<&'a Mutex<OpenTransaction>>,
}

impl Database {
    /// Calls a function and returns its result as JSON: all rows of a set-returning function if a
    /// list is expected, and otherwise the first.
    pub async fn call(&self, caller: Caller<'_>, call: &Call<'_>) -> Result<Called, DbError> {
        let Call {
            name,
            args,
            list,
            undone_if,
        } = *call;

        if args.iter().filter_map(|(_, arg)| arg.as_ref()).any(has_nul) {
            return Err(DbError::Nul);
        }

        let spec = FunctionSpec {
            name: name.to_owned(),
            row_of: None,
            args: args.iter().map(|(form, _)| *form).collect(),
        };

        let enclosing = AtomicTransaction::of(caller.session);
        let function = match enclosing {
            None => self.function(&spec).await?,
            Some(whole) => {
                caller.session.check()?;
                Box::pin(self.function_within(whole, caller.transaction, &spec)).await?
            }
        };
        let values: Vec<_> = args.iter().map(|(_, arg)| arg.clone()).collect();

        // The statement that can roll back reads only the first row, so it does not suit a list.
        let undone_if =
            undone_if.filter(|_| function.may_have_status && !(list && function.returns_set));
        let mut statement = function.statement(&values, undone_if);

        statement.keeps_session = self.session_reset.can_be_left_out();
        let Written { rows, kept } = match (caller.transaction, enclosing) {
            (Some(transaction), _) => self.write_within(transaction, &statement).await?,
            (None, Some(whole)) => {
                Box::pin(self.write_enclosed(whole, caller.session, &statement)).await?
            }
            (None, None) => {
                self.retrying(|| self.fetch_once(caller, &statement, Commit::Always))
                    .await?
            }
        };

        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        };

        let cell = |row| rows.cell(row, 0).map_or_else(|| "null".to_owned(), text);
        if list && function.returns_set {
            let items: Vec<_> = (0..rows.len()).map(cell).collect();
            return Ok(Called {
                json: format!("[{}]", items.join(",")),
                kept,
            });
        }

        Ok(Called {
            json: cell(0),
            kept,
        })
    }

    /// Returns the function, from the loaded state or else from the database.
    pub async fn function(&self, spec: &FunctionSpec) -> Result<Arc<Function>, DbError> {
        self.reached().await?;
        if let Some(Ok(known)) = self.functions().get(spec) {
            return Ok(known.clone());
        }
        // Boxed, as the future is large, and would be moved with that of each call.
        Box::pin(self.find_function(spec)).await
    }

    /// The same, but looks the function up in the transaction of an operation, or in its open part,
    /// because no other connection may be free.
    async fn function_within(
        &self,
        whole: &AtomicTransaction,
        part: Option<&Mutex<OpenTransaction>>,
        spec: &FunctionSpec,
    ) -> Result<Arc<Function>, DbError> {
        if let Some(Ok(known)) = self.functions().get(spec) {
            return Ok(known.clone());
        }

        let lookup = functions::lookup(std::slice::from_ref(spec));
        let rows = match part {
            Some(part) => part.lock().await.read(&lookup).await,
            None => match whole.alone().await {
                Ok(mut open) => open.read(&lookup).await,
                Err(error) => Err(error),
            },
        };

        // Not kept for others: the transaction may have created the function, or have another
        // search path.
        let rows = rows.map_err(|error| self.noted(error))?;
        self.chosen(spec, &rows).await
    }

    /// Looks up the function, which may have been created since the catalog was read.
    async fn find_function(&self, spec: &FunctionSpec) -> Result<Arc<Function>, DbError> {
        let (lookup, mut rows) = (functions::lookup(std::slice::from_ref(spec)), Vec::new());
        let read = self.driver.read(Session::none(), &lookup, &mut rows).await;
        read.map_err(|error| self.noted(error))?;
        let function = self.chosen(spec, &rows).await?;
        self.functions().insert(spec.clone(), Ok(function.clone()));
        Ok(function)
    }

    /// Returns the function among the rows of a look-up.
    async fn chosen(&self, spec: &FunctionSpec, rows: &[Row]) -> Result<Arc<Function>, DbError> {
        let specs = std::slice::from_ref(spec);
        let rows = rows
            .iter()
            .map(functions::Row::from_row)
            .collect::<Result<_, _>>();
        let (views, rows) = (
            self.catalog().await?,
            rows.map_err(|error| self.noted(error.into()))?,
        );
        let mut found = functions::choose(specs, rows, |name| views.source(name));

        match found.remove(spec) {
            Some(Ok(function)) => Ok(function),
            Some(Err(why)) => Err(DbError::UnknownFunction(why)),
            None => Err(DbError::UnknownFunction(format!(
                "the function `{}` does not exist",
                spec.name
            ))),
        }
    }

    /// Runs a statement that writes in its own transaction, with the session variables of its
    /// request.
    ///
    /// # Errors
    /// [`DbError::OutcomeUnknown`] when the statement may or may not have been committed. After any
    /// other error, nothing was committed.
    pub async fn fetch_once(
        &self,
        caller: Caller<'_>,
        statement: &Statement,
        commit: Commit<'_>,
    ) -> Result<Written, DbError> {
        self.reached().await?;
        caller.session.check()?;
        let mut rows = Vec::new();
        let turn = caller.session.turn().await;

        // If the request is dropped meanwhile, this stays in doubt.
        let in_doubt = caller.ledger.inspect(|ledger| ledger.sent());
        let recording = recorder::begin(statement, StatementKind::Write);
        let mut result = self
            .driver
            .write(caller.session, statement, commit, &mut rows)
            .await;
        drop(turn);
        recording.inspect(|recording| recording.ended(result.is_ok().then_some(rows.len())));
        if result.as_ref().is_err_and(|error| is_undone(error, &rows)) {
            result = Ok(false);
        }

        match &result {
            Err(DriverError::OutcomeUnknown) => {}
            other => {
                in_doubt.inspect(|ledger| ledger.answered(matches!(other, Ok(true))));
            }
        }

        let kept = result.map_err(|error| self.noted_of(caller.session, Some(statement), error))?;

        Ok(Written {
            rows: Rows::Read(rows),
            kept,
        })
    }

    /// Runs a statement that writes in a transaction. A call with a failing status leaves the
    /// transaction failed.
    async fn write_within(
        &self,
        transaction: &Mutex<OpenTransaction>,
        statement: &Statement,
    ) -> Result<Written, DbError> {
        let mut transaction = transaction.lock().await;
        self.write_in(&mut transaction, statement).await
    }

    /// The same in an enclosing transaction. Without one, the statement would have its own
    /// transaction, so the settings of earlier reads do not apply to it, and its own settings end
    /// with it.
    async fn write_enclosed(
        &self,
        whole: &AtomicTransaction,
        session: &Session,
        statement: &Statement,
    ) -> Result<Written, DbError> {
        let alone = whole.alone().await;
        let mut transaction = alone.map_err(|error| self.noted(error))?;
        let restored = transaction.restore(session).await;
        restored.map_err(|error| self.noted(error))?;

        let written = self.write_in(&mut transaction, statement).await?;
        if written.kept {
            let restored = transaction.restore(session).await;
            restored.map_err(|error| self.noted(error))?;
        }

        Ok(written)
    }

    async fn write_in(
        &self,
        transaction: &mut OpenTransaction,
        statement: &Statement,
    ) -> Result<Written, DbError> {
        let mut rows = Vec::new();
        let result = transaction.write(statement, &mut rows).await;
        let kept = match result {
            Ok(_) => true,
            Err(error) if is_undone(&error, &rows) => false,
            Err(error) => return Err(self.noted_in(statement, error)),
        };

        Ok(Written {
            rows: Rows::Read(rows),
            kept,
        })
    }
}

/// Whether a call has returned a failing status, which rolls it back.
fn is_undone(error: &DriverError, rows: &[Row]) -> bool {
    let DriverError::Postgres(error) = error else {
        return false;
    };

    // A function may raise an error with the same text, but no row arrives before that.
    !rows.is_empty()
        && error
            .as_db_error()
            .is_some_and(|error| error.message().contains(ROLLED_BACK))
}

/// Whether a text contains U+0000, which PostgreSQL cannot store.
pub fn has_nul(json: &ExactJson) -> bool {
    match json {
        ExactJson::String(text) => text.contains('\0'),
        ExactJson::Array(items) => items.iter().any(has_nul),
        ExactJson::Object(fields) => fields
            .iter()
            .any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}
