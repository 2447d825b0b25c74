//! The task that writes errors, in batches.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lru::LruCache;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::exception::{Exception, cut};
use super::standing::Standing;
use svc_core::error::stack_text;

/// The maximum number of errors in a batch.
const BATCH: usize = 256;
/// The maximum number of occurrences of a group in a batch; further ones are only counted.
const OCCURRENCES: usize = 20;
/// The time limit for writing a batch.
const PATIENCE: Duration = Duration::from_secs(5);
/// The minimum and the maximum pause after a batch that could not be written.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
/// The maximum length of a stack, in characters.
const STACK: usize = 20_000;
/// The interval between two stacks of a group, as resolving their functions is slow.
const STACK_AGAIN: Duration = Duration::from_secs(60);
/// The number of groups whose last stack is remembered.
const KNOWN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(999);

/// The state of the writing task.
pub(super) struct Worker {
    pub(super) pool: PgPool,
    pub(super) environment: String,
    pub(super) release_version: String,
    pub(super) standing: Arc<Standing>,
    /// Publishes the number of errors that are written or given up.
    pub(super) told: watch::Sender<u64>,
}

/// The errors of a batch that belong to one group.
struct Group {
    exceptions: Vec<Exception>,
    times: i64,
}

/// Writes errors as they arrive, as long as there is a tracker.
pub(super) async fn work(worker: Worker, mut waiting: Receiver<Exception>) {
    let mut stacks = LruCache::new(KNOWN);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let count = waiting.recv_many(&mut batch, BATCH).await;
        if count == 0 {
            return;
        }

        let groups = grouped(std::mem::take(&mut batch), &mut stacks);
        let (environment, release) = (worker.environment.clone(), worker.release_version.clone());

        // Resolving stacks would block other tasks.
        let described =
            tokio::task::spawn_blocking(move || described(groups, &environment, &release)).await;

        // A panic while a stack is resolved must not end this task.
        match described {
            Ok(described) => worker.write(&described, count as u64).await,
            Err(error) => worker.lost(count as u64, &error.to_string()),
        }

        worker.told.send_modify(|done| *done += count as u64);
    }
}

/// Groups a batch, with the first errors of each group. Only errors whose group had no stack for a
/// while keep theirs.
fn grouped(
    batch: Vec<Exception>,
    stacks: &mut LruCache<String, Instant>,
) -> BTreeMap<String, Group> {
    let mut groups = BTreeMap::<String, Group>::new();
    for mut exception in batch {
        let fingerprint = exception.fingerprint();
        if exception.stack.is_some() {
            let has_one = stacks
                .get(&fingerprint)
                .is_some_and(|at| at.elapsed() < STACK_AGAIN);
            match has_one {
                true => exception.stack = None,
                false => drop(stacks.put(fingerprint.clone(), Instant::now())),
            }
        }

        let group = groups.entry(fingerprint).or_insert(Group {
            exceptions: Vec::new(),
            times: 0,
        });
        group.times += i64::from(exception.times);

        // A stack is kept in any case: the group gets no other for a minute.
        if group.exceptions.len() < OCCURRENCES || exception.stack.is_some() {
            group.exceptions.push(exception);
        }
    }

    groups
}

/// Returns a batch in the format that the function `svc_errors.capture` reads.
fn described(groups: BTreeMap<String, Group>, environment: &str, release: &str) -> Value {
    let describe = |(fingerprint, group): (String, Group)| {
        // Threads may add errors in another order than they occur.
        let first = group
            .exceptions
            .iter()
            .min_by_key(|exception| exception.at)?;
        let last = group
            .exceptions
            .iter()
            .max_by_key(|exception| exception.at)?;

        Some(json!({
            "fingerprint": fingerprint,
            "type": last.kind,
            "file": last.file,
            "line": last.line,
            "function": last.function,
            "message": last.message,
            "times": group.times,
            "first_seen": first.at,
            "last_seen": last.at,
            "environment": environment,
            "release_version": release,
            "occurrences": group.exceptions.iter().map(occurrence).collect::<Vec<_>>(),
        }))
    };

    groups.into_iter().filter_map(describe).collect()
}

fn occurrence(exception: &Exception) -> Value {
    json!({
        "id": exception.id,
        "occurred_at": exception.at,
        "times": exception.times,
        "message": exception.message,
        "stack_trace": exception.stack.as_ref().map(|taken| cut(&stack_text(taken), STACK)),
        "request_id": exception.request_id,
        "trace_id": exception.trace_id,
        "span_id": exception.span_id,
        "user_id": exception.user_id.as_deref().map(|user| cut(user, 200)),
        "operation": exception.operation.as_deref().map(|operation| cut(operation, 200)),
        "context": exception.context,
    })
}

impl Worker {
    /// Writes a batch of `count` errors, retrying for as long as necessary. A retry of a batch that
    /// was written without confirmation does not count twice.
    async fn write(&self, groups: &Value, count: u64) {
        // All attempts have one id: `svc_errors.capture` ignores a batch that it has already
        // written.
        let (id, mut pause) = (Uuid::new_v4(), PAUSE[0]);
        loop {
            let sent = sqlx::query("SELECT svc_errors.capture($1, $2)")
                .bind(id)
                .bind(groups)
                .execute(&self.pool);
            let failure = match timeout(PATIENCE, sent).await {
                Ok(Ok(_)) => return self.standing.written(),
                // The next batches would wait for this one forever.
                Ok(Err(error)) if is_for_good(&error) => {
                    return self.lost(count, &error.to_string());
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {} seconds", PATIENCE.as_secs()),
            };

            self.standing.failed(&failure);
            sleep(pause).await;

            pause = (pause * 2).min(PAUSE[1]);
        }
    }

    fn lost(&self, count: u64, why: &str) {
        self.standing.drop_errors(count);
        tracing::error!(
            error = why,
            count,
            "dropped tracked errors that cannot be written"
        );
    }
}

/// Whether a batch can never be written: PostgreSQL rejects one of its values.
fn is_for_good(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);

    // Data exceptions, integrity violations and exceeded program limits fail again each time.
    code.is_some_and(|code| {
        ["22", "23", "54"]
            .iter()
            .any(|class| code.starts_with(class))
    })
}
