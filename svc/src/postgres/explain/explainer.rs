//! The plans of statements that have run, without running them again.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use super::hints::{Candidate, Hint, Table, candidates};
use crate::postgres::driver::{DedicatedConnection, DriverError};
use crate::postgres::recorder::{Recorded, StatementKind};
use crate::postgres::rows::cell;
use crate::postgres::{Database, Param, Session, Statement, StatementText};

/// The time that the explanation of a request may take.
const LONGEST: Duration = Duration::from_secs(5);
/// The largest plan that is shown, in bytes: plans show values, such as those of a long list.
const LARGEST: usize = 64 << 10;
/// The bytes that all plans of a request have together, about.
const ALL: usize = 1 << 20;

/// The requests that are explained at once: each has a connection, and they must not take those of the service.
static EXPLAINING: Semaphore = Semaphore::const_new(2);

/// A statement as PostgreSQL sees it.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) plan: Result<Value, PlanFailure>,
    /// Indexes that would help it.
    pub(crate) hints: Vec<Hint>,
}

/// The reason why there is no plan.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanFailure {
    #[error("a statement that may write is not planned a second time")]
    Writes,
    #[error("the plan has more than {} kB", LARGEST >> 10)]
    TooLarge,
    #[error("the plans of the request have more than {} kB", ALL >> 10)]
    TooMany,
    #[error("the plans of the request took longer than {} seconds", LONGEST.as_secs())]
    Late,
    #[error("{0}")]
    Refused(String),
}

impl Database {
    /// Has PostgreSQL plan statements once more, with their values and as the same session, on a connection of its own;
    /// an explanation for each.
    pub(crate) async fn explain(&self, session: &Session, statements: &[&Recorded]) -> Vec<Explained> {
        let (mut explained, end) = (Vec::with_capacity(statements.len()), Instant::now() + LONGEST);
        let has_reads = statements.iter().any(|recorded| recorded.kind == StatementKind::Read);
        let mut explainer = match has_reads {
            true => in_time(end, Explainer::open(self, session)).await.map(Some),
            false => Ok(None),
        };
        for recorded in statements {
            let nothing = |failure| Explained { plan: Err(failure), hints: Vec::new() };
            explained.push(match (&mut explainer, recorded.kind) {
                (_, StatementKind::Write) => nothing(PlanFailure::Writes),
                (Ok(Some(explainer)), _) => {
                    let plan = in_time(end, explainer.plan(&recorded.statement)).await;
                    // What cannot be looked at has no hints.
                    let hints = in_time(end, explainer.hints(&recorded.statement)).await.unwrap_or_default();
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

async fn in_time<T>(end: Instant, work: impl Future<Output = Result<T, PlanFailure>>) -> Result<T, PlanFailure> {
    timeout_at(end, work).await.unwrap_or(Err(PlanFailure::Late))
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

/// A connection in a transaction of its own, which only reads and has the variables of a session.
struct Explainer {
    connection: DedicatedConnection,
    /// The number of statements that were prepared by name.
    prepared: usize,
    /// The bytes that plans may still have.
    room: usize,
    _permit: SemaphorePermit<'static>,
}

impl Explainer {
    async fn open(database: &Database, session: &Session) -> Result<Self, PlanFailure> {
        // Nobody closes it.
        let permit = EXPLAINING.acquire().await.map_err(|_| PlanFailure::Late)?;
        let connection = database.driver.dedicated_like_pool(database.acquire_timeout).await?;
        let mut explainer = Self { connection, prepared: 0, room: ALL, _permit: permit };
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
        let (plan, size) = self.attempt("", async |connection| json(connection, &plan).await).await?;
        self.room = self.room.checked_sub(size).ok_or(PlanFailure::TooMany)?;
        Ok(plan)
    }

    /// Hints about indexes for a statement, whatever its values.
    async fn hints(&mut self, statement: &Statement) -> Result<Vec<Hint>, PlanFailure> {
        // No table is small enough to be read whole, so a filter that is left over has no index.
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

    /// The plan with placeholders in the place of values, under settings of the planner.
    async fn generic_plan(&mut self, settings: &str, statement: &Statement) -> Result<Value, PlanFailure> {
        self.prepared += 1;
        let (name, list) = (format!("svc_explained_{}", self.prepared), |items: Vec<&str>| match items.is_empty() {
            true => String::new(),
            false => format!(" ({})", items.join(", ")),
        });
        let types = list(statement.params.iter().map(Param::type_name).collect());
        let nulls = list(vec!["NULL"; statement.params.len()]);
        let prepare = Statement::new(format!("PREPARE {name}{types} AS {}", &*statement.text), Vec::new());
        let explain = Statement::new(format!("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE {name}{nulls}"), Vec::new());
        let run = async |connection: &mut DedicatedConnection| {
            connection.read(&prepare).await?;
            json(connection, &explain).await
        };
        self.attempt(settings, run).await.map(|(plan, _)| plan)
    }

    async fn table(&mut self, candidate: &Candidate) -> Result<Option<Table>, PlanFailure> {
        let lookup = candidate.lookup();
        let rows = self.attempt("", async |connection| Ok(connection.rows::<(String,)>(&lookup).await?)).await?;
        Ok(rows.first().and_then(|(table,)| serde_json::from_str(table).ok()))
    }

    /// Runs something under settings, of which nothing is left whether it fails or not.
    async fn attempt<T>(
        &mut self,
        settings: &str,
        run: impl AsyncFnOnce(&mut DedicatedConnection) -> Result<T, PlanFailure>,
    ) -> Result<T, PlanFailure> {
        self.script(&format!("SAVEPOINT attempt; {settings}")).await?;
        let result = run(&mut self.connection).await;
        self.script("ROLLBACK TO SAVEPOINT attempt").await?;
        result
    }

    async fn script(&mut self, sql: &str) -> Result<(), PlanFailure> {
        self.connection.script(sql).await.map_err(|(_, error)| error.into())
    }
}

/// The plan that an `EXPLAIN` answers with, and its size.
async fn json(connection: &mut DedicatedConnection, explain: &Statement) -> Result<(Value, usize), PlanFailure> {
    let rows = connection.read(explain).await?;
    let bytes = rows.first().and_then(|row| cell(row, 0)).unwrap_or_default();
    if bytes.len() > LARGEST {
        return Err(PlanFailure::TooLarge);
    }
    let plan = serde_json::from_slice(bytes).map_err(|error| PlanFailure::Refused(error.to_string()))?;
    Ok((plan, bytes.len()))
}
