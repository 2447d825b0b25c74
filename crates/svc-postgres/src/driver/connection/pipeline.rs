//! Pipelined reads: sent back to back on one connection, without waiting for the previous response.

use std::borrow::Cow;
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, MaybeDone, join, join4, maybe_done};
use tokio_postgres::{Client, Row, Statement as Prepared};

use super::{Connection, rows};
use crate::driver::DriverError;
use crate::{Session, Statement};

/// The result of one read among several.
pub(crate) type EachResult = Result<Vec<Row>, DriverError>;

/// A read with its prepared statement, and the prepared statement that sets its session variables,
/// if it has any.
struct PreparedRead<'a> {
    /// The start of its transaction, if it has its own.
    begin: Option<Cow<'static, str>>,
    setup: Option<(&'a Statement, Prepared)>,
    statement: &'a Statement,
    prepared: Prepared,
}

impl Connection {
    /// Runs pipelined reads, each in a transaction with its session variables, if it has any. A
    /// read that fails does not affect the others.
    pub(in crate::driver) async fn read_each(
        &mut self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DriverError> {
        let mut prepared = Vec::with_capacity(reads.len());
        for (session, statement) in reads {
            let setup = match session.setup() {
                Some(setup) => Some((setup, self.prepared(setup).await?)),
                None => None,
            };

            let in_transaction = setup.is_some() || self.session.pooled.is_some();
            let begin = in_transaction.then(|| self.session.begin("BEGIN", statement.replan));
            prepared.push(PreparedRead {
                begin,
                setup,
                statement,
                prepared: self.prepared(statement).await?,
            });
        }

        // One read that needs a plan for its values decides for all: such a plan returns the same
        // rows.
        let replan = reads.iter().any(|(_, statement)| statement.replan);
        let switch = self.session.switch(replan);
        let (client, answered, bound) = (&self.client, &self.answered, &self.bound);
        let switching = async {
            if let Some(switch) = switch {
                client.batch_execute(switch).await
            } else {
                Ok(())
            }
        };

        let reading = prepared
            .iter()
            .map(|read| maybe_done(read.run(client, answered, bound).boxed()))
            .collect();
        let all = join(switching, join_all(reading));
        let (switched, results) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        self.session.switched(replan, switched)?;

        self.results(reads, results)
    }

    /// Records the consequences of the results for the connection.
    fn results(
        &mut self,
        reads: &[(&Session, &Statement)],
        results: Vec<Result<Vec<Row>, tokio_postgres::Error>>,
    ) -> Result<Vec<EachResult>, DriverError> {
        let mut each = Vec::with_capacity(results.len());
        for ((session, statement), result) in reads.iter().zip(results) {
            let result = result.map_err(DriverError::from);
            match &result {
                Err(error) if !error.leaves_connection_usable() => {
                    return Err(result.err().unwrap_or(DriverError::Closed));
                }
                Err(error) if error.shows_change() => {
                    self.found_stale = true;
                    self.forget(session.setup(), Some(statement));
                }
                _ => {}
            }

            each.push(result);
        }

        Ok(each)
    }
}

impl PreparedRead<'_> {
    async fn run(
        &self,
        client: &Client,
        answered: &AtomicBool,
        bound: &AtomicBool,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let mut found = Vec::new();
        let Some(begin) = &self.begin else {
            rows(client, bound, &self.prepared, self.statement, &mut found).await?;
            return Ok(found);
        };

        let mut settings = Vec::new();

        // All are sent at once, in this order. When one fails, PostgreSQL rejects the ones after
        // it, and the last one ends the transaction.
        let (begun, set, read, ended) = join4(
            client.batch_execute(begin),
            async {
                match &self.setup {
                    Some((setup, prepared)) => {
                        rows(client, answered, prepared, setup, &mut settings).await
                    }
                    None => Ok(()),
                }
            },
            rows(client, bound, &self.prepared, self.statement, &mut found),
            client.batch_execute("COMMIT"),
        )
        .await;

        begun.and(set).and(read).and(ended)?;

        Ok(found)
    }
}

/// Returns the results of all. Each future is polled whenever this one is, as the wire wakes no
/// tasks.
async fn join_all<T>(mut all: Vec<MaybeDone<BoxFuture<'_, T>>>) -> Vec<T> {
    poll_fn(|cx| {
        // All are polled, even if an earlier one waits, as the first poll of each sends its
        // messages.
        let waiting = all
            .iter_mut()
            .map(|one| Pin::new(one).poll(cx))
            .filter(Poll::is_pending)
            .count();
        if waiting == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;

    all.iter_mut()
        .filter_map(|one| Pin::new(one).take_output())
        .collect()
}
