//! Mutations with `@atomic`: their root fields run in one transaction.

use std::iter::zip;
use std::sync::Arc;

use super::session_undo::SessionUndo;
use crate::graphql::complete::CompletedValue;
use crate::graphql::context::ExecutionContext;
use crate::graphql::execute::by_statement::all_failed;
use crate::graphql::execute::size::AnswerSize;
use crate::graphql::execute::{Decided, Engine, Prepared};
use crate::graphql::mutate::Mutations;
use crate::graphql::plan::{CostMeter, PlanField};
use crate::graphql::response::{FieldError, Path, PropagatedNull, ResponseBudget};
use crate::mutation_result::failed_call;
use crate::repository::{Atomic, Db};
use crate::request::ErrorBehavior;
use crate::shared_state::SharedState;
use svc_core::{Error, ErrorCode};
use svc_postgres::{DbError, DriverError, Effect, EffectLog, Isolation, RetryCause};

/// A root field that has run.
struct Ran {
    value: CompletedValue,
    /// The type number of its result object.
    result: Option<usize>,
}

impl Ran {
    fn has_failed(&self) -> bool {
        !self.value.errors.is_empty() || self.value.bytes.is_err()
    }
}

/// An attempt at the transaction that was not committed, or with an unknown outcome.
struct Undone {
    reason: Reason,
    /// The reason why it may be run again, if there is one.
    retry_cause: Option<RetryCause>,
}

enum Reason {
    /// A field has failed: its index, and its errors.
    Field(usize, Vec<FieldError>),
    /// The transaction could not begin, or was not committed.
    Transaction(Error),
}

/// Rolls back a transaction that is still open when its request is dropped, for example at its
/// deadline.
struct Abandoned<'a> {
    atomic: &'a Atomic,
    app: &'a SharedState,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.atomic.abandon(self.app);
    }
}

impl Engine {
    /// Executes the root fields in order, in one transaction. After the first error, the remaining
    /// fields do not run, and nothing is kept. All fields are admitted before the transaction
    /// begins, because authorizers may use other connections.
    ///
    /// If PostgreSQL rolls the transaction back because of concurrent ones, all fields are run
    /// again, unless a function of the program has run.
    pub(super) async fn atomically(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
    ) -> Vec<CompletedValue> {
        let (fields, db) = (&prepared.plan.root.fields, cx.context.db());

        // Tasks and handles of authorizers outlast the decision.
        let outside = db.outside();
        let decisions = self.decide(&cx.with_db(&outside), prepared, false).await;

        // Writes of authorizers do not count, also if they deny a field.
        if let Some(ledger) = &db.ledger {
            ledger.begin();
        }

        if let Some((index, errors)) = first_denial(cx, fields, &decisions) {
            return undone(cx, fields, index, errors);
        }

        let Some(atomic) = &db.atomic else {
            let error = Error::internal("an operation with `@atomic` has no transaction");
            return all_failed(cx, fields, &error);
        };

        let _abandoned = Abandoned {
            atomic,
            app: &db.app,
        };
        match self.attempts(cx, prepared, atomic, &decisions).await {
            Ok(ran) => kept(cx, fields, ran),
            Err(Undone {
                reason: Reason::Field(index, errors),
                ..
            }) => undone(cx, fields, index, errors),
            Err(Undone {
                reason: Reason::Transaction(error),
                ..
            }) => all_failed(cx, fields, &error),
        }
    }

    /// Runs the transaction, again after a conflict if no code of the program has run. Only the last
    /// attempt counts for the complexity that the operation has used.
    async fn attempts<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        atomic: &Arc<Atomic>,
        decisions: &[Option<Decided<'p>>],
    ) -> Result<Vec<Ran>, Undone> {
        let may_repeat = prepared.plan.needs_code().is_none() && self.hooks.is_empty();
        let mut retries = cx.database.retries();
        loop {
            let meter = cx.spending.map(CostMeter::attempt);
            let attempt_cx = match &meter {
                Some(meter) => cx.with_spending(meter.objects()),
                None => *cx,
            };

            let result = self.attempt(&attempt_cx, prepared, atomic, decisions).await;
            let cause = match &result {
                Err(undone) if may_repeat => undone.retry_cause,
                _ => None,
            };
            if !cx.database.may_retry(&mut retries, cause).await {
                return result;
            }

            if let Some(meter) = &meter {
                meter.discard();
            }
        }
    }

    /// Runs the transaction once.
    async fn attempt<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        atomic: &Arc<Atomic>,
        decisions: &[Option<Decided<'p>>],
    ) -> Result<Vec<Ran>, Undone> {
        let db = cx.context.db();
        atomic.begin();

        // First, because others may use the connection meanwhile.
        let mut session = SessionUndo::new(cx).await;

        // The connection counts as one of its batch or socket. Its statements need no other.
        let _turn = db.session().operation_turn().await;

        if let Err(error) = begin(db, atomic).await {
            return Err(Undone {
                retry_cause: error.retry_cause(),
                reason: Reason::Transaction(error.into_error()),
            });
        }

        session.begin();
        let mut ran = self.run_each(cx, prepared, atomic, decisions).await;
        if ran.last().is_some_and(Ran::has_failed) {
            let retry_cause = atomic.transaction.retry_cause();
            atomic.transaction.roll_back().await;
            atomic.follow(&db.app, Effect::NotDone).await;
            let errors = ran.pop().map(|failed| failed.value.errors);
            return Err(Undone {
                reason: Reason::Field(ran.len(), errors.unwrap_or_default()),
                retry_cause,
            });
        }

        // If the request is dropped during the commit, the outcome is unknown.
        session.keep();
        let Err(error) = commit(db, atomic).await else {
            return Ok(ran);
        };

        let retry_cause = match error {
            DbError::OutcomeUnknown => None,
            _ => {
                session.undo();
                atomic.transaction.retry_cause()
            }
        };

        Err(Undone {
            reason: Reason::Transaction(failed_call(error, &db.app.constraints)),
            retry_cause,
        })
    }

    /// Runs the fields in the open transaction, up to the first one that fails.
    async fn run_each<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        atomic: &Atomic,
        decisions: &[Option<Decided<'p>>],
    ) -> Vec<Ran> {
        // The values of an earlier attempt do not count.
        let answer = ResponseBudget::new(cx.limits.answer);
        let cx = &cx.with_answer(&answer);
        let (fields, db) = (&prepared.plan.root.fields, cx.context.db());
        let (mut ran, mut size) = (Vec::with_capacity(fields.len()), AnswerSize::default());

        for (index, (field, decided)) in zip(fields, decisions).enumerate() {
            if let Some(ledger) = &db.ledger {
                ledger.begin_field(index);
            }

            // In its own transaction, it would not meet the settings of the fields before it.
            let value = match atomic.transaction.restore(db.session()).await {
                Ok(()) => {
                    let meter = cx.field_meter(field);
                    let decided = again(decided.as_ref(), field);
                    self.metered_field(cx, meter.as_ref(), prepared, field, decided)
                        .await
                }
                Err(error) => failed(cx, &cx.database.noted(error).into_error(), field),
            };

            let value = size.fit(cx, field, value);
            let value = checked(cx, atomic, field, value).await;
            let result = db.ledger.as_deref().and_then(EffectLog::take_result);

            ran.push(Ran { value, result });
            if ran.last().is_some_and(Ran::has_failed) {
                break;
            }
        }

        ran
    }
}

/// The decision about an admitted field, for one more run of it.
fn again<'f>(decided: Option<&Decided<'f>>, field: &'f PlanField) -> Option<Decided<'f>> {
    let admission = decided?.as_ref().ok()?;
    admission.for_same(field).map(Ok)
}

/// The first field that is denied: its index, and its error.
fn first_denial(
    cx: &ExecutionContext<'_>,
    fields: &[PlanField],
    decisions: &[Option<Decided<'_>>],
) -> Option<(usize, Vec<FieldError>)> {
    let mut decided = zip(fields, decisions).enumerate();
    decided.find_map(|(index, (field, decided))| match decided {
        Some(Err(denied)) => Some((index, failed(cx, denied, field).errors)),
        _ => None,
    })
}

async fn begin(db: &Db, atomic: &Atomic) -> Result<(), DbError> {
    // Writes under row policies may need one snapshot, and it cannot be chosen later.
    let isolation = match db.rules {
        Some(_) => Isolation::AtLeastSnapshot,
        None => Isolation::Default,
    };

    let begun = db.app.database.begin(db.session(), isolation).await?;
    atomic.transaction.start(begun).await;

    Ok(())
}

/// Commits the transaction and takes the steps that follow, in a task: a request that is dropped
/// meanwhile, for example at its deadline, does not interrupt them.
async fn commit(db: &Db, atomic: &Arc<Atomic>) -> Result<(), DbError> {
    let (app, ledger, atomic) = (db.app.clone(), db.ledger.clone(), atomic.clone());

    atomic.commits();

    // For the response to a request that is dropped meanwhile, the outcome is unknown.
    ledger.as_deref().inspect(|ledger| ledger.sent());

    let committing = tokio::spawn(async move {
        let committed = atomic.transaction.commit().await;
        let effect = match committed {
            Ok(()) => Effect::Done,
            Err(DriverError::OutcomeUnknown) => Effect::Unknown,
            Err(_) => Effect::NotDone,
        };
        if effect != Effect::Unknown {
            ledger
                .as_deref()
                .inspect(|ledger| ledger.answered(committed.is_ok()));
        }

        atomic.follow(&app, effect).await;

        committed
    });

    // The task ends early only if it panics, or with the program.
    let committed = committing.await.unwrap_or(Err(DriverError::OutcomeUnknown));
    committed.map_err(|error| db.app.database.noted(error))
}

/// Returns the value of a field, or its error if the field does not report by itself that the
/// transaction must not be kept.
async fn checked(
    cx: &ExecutionContext<'_>,
    atomic: &Atomic,
    field: &PlanField,
    value: CompletedValue,
) -> CompletedValue {
    if !value.errors.is_empty() {
        return value;
    }

    let (name, transaction) = (&field.name, &atomic.transaction);
    let error = if transaction.is_broken() {
        let message = format!("`{name}` rolled its transaction back");
        Error::new(ErrorCode::NotDone, message)
    } else if transaction.has_parts() {
        Error::internal(format!("`{name}` returned before its transaction ended"))
    } else if transaction.has_failed().await {
        Error::internal(format!(
            "a statement of `{name}` failed or was dropped, and the function did not return an error"
        ))
    } else if let Some(failure) = atomic.take_failure() {
        let message = format!("`{name}` returned `{}`", cx.model.types[failure].name);
        Error::new(ErrorCode::NotDone, message)
    } else {
        return value;
    };

    failed(cx, &error, field)
}

/// The values of committed fields.
fn kept(cx: &ExecutionContext<'_>, fields: &[PlanField], ran: Vec<Ran>) -> Vec<CompletedValue> {
    let ledger = cx.context.db().ledger.as_deref();
    let mut mutations = Mutations::new(cx);
    for (field, Ran { value, result }) in zip(fields, ran) {
        if let (Some(ledger), Some(result)) = (ledger, result) {
            ledger.answered_with(result);
        }
        mutations.end(field, value);
    }

    mutations.into_completed()
}

/// The values of fields that are undone because of the errors of one of them. If `data` is null,
/// the response has only these errors, and otherwise an error for each field.
fn undone(
    cx: &ExecutionContext<'_>,
    fields: &[PlanField],
    failed_index: usize,
    mut errors: Vec<FieldError>,
) -> Vec<CompletedValue> {
    let other = Error::new(
        ErrorCode::NotDone,
        "the mutation was not done, as another field of the operation failed",
    );
    let nulls: Vec<_> = fields
        .iter()
        .map(|field| failed(cx, &other, field))
        .collect();
    let is_lost =
        cx.on_error == ErrorBehavior::Halt || nulls.iter().any(|null| null.bytes.is_err());

    let mut mutations = Mutations::new(cx);
    for (index, (field, mut null)) in zip(fields, nulls).enumerate() {
        if index == failed_index {
            null.errors = std::mem::take(&mut errors);
            if is_lost {
                null.bytes = Err(PropagatedNull);
            }
        } else if is_lost {
            mutations.undo(field, &null);
            continue;
        }

        mutations.end(field, null);
    }

    if is_lost {
        mutations.lose(fields);
    }

    mutations.into_completed()
}

fn failed(cx: &ExecutionContext<'_>, error: &Error, field: &PlanField) -> CompletedValue {
    CompletedValue::failed(cx, error, field, &Path::Root.key(&field.key))
}
