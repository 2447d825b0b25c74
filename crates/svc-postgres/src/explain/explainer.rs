//! Plans for statements that have run, without running them again.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use super::hints::{Candidate, Hint, Table, candidates};
use crate::driver::{DedicatedConnection, DriverError};
use crate::statement::cell;
use crate::statement::recorder::{Recorded, StatementKind};
use crate::{Database, Param, Session, Statement, StatementText};

/// The time limit for explaining a request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of a returned plan, in bytes: plans include values, for example all items of a
/// long list.
pub(crate) const MAX_PLAN_SIZE: usize = 64 << 10;
/// The approximate maximum of bytes for all plans of a request.
pub(crate) const ALL: usize = 1 << 20;

/// Limits concurrent explanations: each has a connection, and they must not exhaust the service's
/// own.
static EXPLAINING: Semaphore = Semaphore::const_new(2);

/// PostgreSQL's view of a statement.
#[derive(Debug)]
pub struct Explained {
    pub plan: Result<Value, PlanFailure>,
    /// Indexes that would speed it up.
    pub hints: Vec<Hint>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFailure {
    #[error("a statement that may write is not planned a second time")]
    Writes,
    #[error("the plan has more than {} kB", MAX_PLAN_SIZE >> 10)]
    TooLarge,
    #[error("the plans of the request have more than {} kB", ALL >> 10)]
    TooMany,
    #[error("the plans of the request took longer than {} seconds", TIMEOUT.as_secs())]
    Late,
    #[error("{0}")]
    Refused(String),
}

impl Database {
    /// Makes PostgreSQL plan statements once more, with their values and session variables, on a
    /// dedicated connection. Returns an explanation for each.
    pub async fn explain(&self, session: &Session, statements: &[&Recorded]) -> Vec<Explained> {
        let (mut explained, end) = (
            Vec::with_capacity(statements.len()),
            Instant::now() + TIMEOUT,
        );
        let has_reads = statements
            .iter()
            .any(|recorded| recorded.kind == StatementKind::Read);
        let mut explainer = match has_reads {
            true => in_time(end, Explainer::open(self, session)).await.map(Some),
            false => Ok(None),
        };

        for recorded in statements {
            let nothing = |failure| Explained {
                plan: Err(failure),
                hints: Vec::new(),
            };

            explained.push(match (&mut explainer, recorded.kind) {
                (_, StatementKind::Write) => nothing(PlanFailure::Writes),
                (Ok(Some(explainer)), _) => {
                    let plan = in_time(end, explainer.plan(&recorded.statement)).await;
                    // A statement that cannot be inspected has no hints.
                    let hints = in_time(end, explainer.hints(&recorded.statement))
                        .await
                        .unwrap_or_default();
                    Explained { plan, hints }
                }
                (Ok(None), _) => nothing(PlanFailure::Late),
                (Err(failure), _) => nothing(failure.again()),
            });
        }

        if let Ok(Some(explainer)) = explainer {
            explainer.connection.close();
        }

        explained
    }
}

async fn in_time<T>(
    end: Instant,
    work: impl Future<Output = Result<T, PlanFailure>>,
) -> Result<T, PlanFailure> {
    timeout_at(end, work)
        .await
        .unwrap_or(Err(PlanFailure::Late))
}

impl PlanFailure {
    fn again(&self) -> Self {
        match self {
            Self::Writes => Self::Writes,
            Self::TooLarge => Self::TooLarge,
            Self::TooMany => Self::TooMany,
            Self::Late => Self::Late,
            Self::Refused(message) => Self::Refused(message.clone()),
        }
    }
}

impl From<DriverError> for PlanFailure {
    fn from(error: DriverError) -> Self {
        Self::Refused(error.message())
    }
}

/// A connection in its own read-only transaction, with the variables of a session.
struct Explainer {
    connection: DedicatedConnection,
    /// The number of statements prepared by name.
    prepared: usize,
    /// The bytes left for plans.
    room: usize,
    _permit: SemaphorePermit<'static>,
}

impl Explainer {
    async fn open(database: &Database, session: &Session) -> Result<Self, PlanFailure> {
        // The semaphore is never closed.
        let permit = EXPLAINING.acquire().await.map_err(|_| PlanFailure::Late)?;
        let connection = database
            .driver
            .dedicated_like_pool(database.acquire_timeout)
            .await?;
        let mut explainer = Self {
            connection,
            prepared: 0,
            room: ALL,
            _permit: permit,
        };

        // Planning evaluates stable and immutable functions, and in this transaction none of them
        // can write.
        explainer.connection.begin("BEGIN READ ONLY").await?;
        if let Some(setup) = session.setup() {
            explainer.connection.read(setup).await?;
        }

        Ok(explainer)
    }

    /// The plan for the values of a statement.
    async fn plan(&mut self, statement: &Statement) -> Result<Value, PlanFailure> {
        let text = StatementText::from(format!("EXPLAIN (FORMAT JSON) {}", &*statement.text));
        let plan = Statement::new(text, statement.params.clone());
        let (plan, size) = self
            .attempt("", async |connection| json(connection, &plan).await)
            .await?;
        self.room = self.room.checked_sub(size).ok_or(PlanFailure::TooMany)?;
        Ok(plan)
    }

    /// Index hints for a statement, independent of its values.
    async fn hints(&mut self, statement: &Statement) -> Result<Vec<Hint>, PlanFailure> {
        // Sequential scans are disabled even for small tables, so a remaining filter has no index.
        let unfiltered = "SET LOCAL enable_seqscan = off; SET LOCAL enable_mergejoin = off; \
                          SET LOCAL max_parallel_workers_per_gather = 0; \
                          SET LOCAL plan_cache_mode = force_generic_plan";
        let unsorted = format!("{unfiltered}; SET LOCAL enable_sort = off");
        let filters = self.generic_plan(unfiltered, statement).await?;
        let orders = self.generic_plan(&unsorted, statement).await?;
        let mut hints = Vec::new();

        for candidate in candidates(&filters, &orders) {
            if let Some(table) = self.table(&candidate).await? {
                hints.extend(candidate.hints(&table));
            }
        }

        Ok(hints)
    }

    /// The plan with placeholders in place of values, under the given planner settings.
    async fn generic_plan(
        &mut self,
        settings: &str,
        statement: &Statement,
    ) -> Result<Value, PlanFailure> {
        // A prepared statement outlives the rollback to the savepoint, so each has its own name.
        self.prepared += 1;
        let (name, list) = (
            format!("svc_explained_{}", self.prepared),
            |items: Vec<&str>| match items.is_empty() {
                true => String::new(),
                false => format!(" ({})", items.join(", ")),
            },
        );

        let types = list(statement.params.iter().map(Param::type_name).collect());

        // A generic plan does not depend on the values, so nulls will do.
        let nulls = list(vec!["NULL"; statement.params.len()]);
        let prepare = Statement::new(
            format!("PREPARE {name}{types} AS {}", &*statement.text),
            Vec::new(),
        );
        let explain = Statement::new(
            format!("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE {name}{nulls}"),
            Vec::new(),
        );
        let run = async |connection: &mut DedicatedConnection| {
            connection.read(&prepare).await?;
            json(connection, &explain).await
        };

        self.attempt(settings, run).await.map(|(plan, _)| plan)
    }

    async fn table(&mut self, candidate: &Candidate) -> Result<Option<Table>, PlanFailure> {
        let lookup = candidate.lookup();
        let rows = self
            .attempt("", async |connection| {
                Ok(connection.rows::<(String,)>(&lookup).await?)
            })
            .await?;

        Ok(rows
            .first()
            .and_then(|(table,)| serde_json::from_str(table).ok()))
    }

    /// Runs work under settings, which are undone whether it fails or not.
    async fn attempt<T>(
        &mut self,
        settings: &str,
        run: impl AsyncFnOnce(&mut DedicatedConnection) -> Result<T, PlanFailure>,
    ) -> Result<T, PlanFailure> {
        self.script(&format!("SAVEPOINT attempt; {settings}"))
            .await?;
        let result = run(&mut self.connection).await;
        self.script("ROLLBACK TO SAVEPOINT attempt").await?;
        result
    }

    async fn script(&mut self, sql: &str) -> Result<(), PlanFailure> {
        self.connection
            .script(sql)
            .await
            .map_err(|(_, error)| error.into())
    }
}

/// The plan returned by an `EXPLAIN`, and its size.
async fn json(
    connection: &mut DedicatedConnection,
    explain: &Statement,
) -> Result<(Value, usize), PlanFailure> {
    let rows = connection.read(explain).await?;
    let bytes = rows
        .first()
        .and_then(|row| cell(row, 0))
        .unwrap_or_default();
    if bytes.len() > MAX_PLAN_SIZE {
        return Err(PlanFailure::TooLarge);
    }

    let plan =
        serde_json::from_slice(bytes).map_err(|error| PlanFailure::Refused(error.to_string()))?;

    Ok((plan, bytes.len()))
}
