//! One connection: prepared statements, and reads.

mod pipeline;
mod session_state;
mod statement_cache;
mod write;

pub(crate) use pipeline::EachResult;
#[cfg(feature = "sqlx")]
pub(crate) use session_state::RESET_OF_SQLX;
pub use write::Commit;
pub(super) use write::Progress;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use futures_util::future::{join, join3, join5};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Statement as Prepared};

use session_state::{RESET_SESSION, SessionState};
use statement_cache::{Novelty, StatementCache, fits};

use super::DriverError;
use super::config::{Opened, Target};
use super::variable::BoxError;
use super::wire::{Watch, Wire};
use crate::{Param, RowSink, Session, Statement};
use svc_core::task::boxed::{boxed_rare, boxed_unmoved};

/// A connection with the statements prepared on it. It is read and written only while it is in use.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) wire: Wire,
    statements: StatementCache,
    /// Whether the server may have a prepared statement that `statements` does not contain.
    pub(super) preparing: bool,
    /// Whether a transaction is open between statements.
    pub(super) in_transaction: bool,
    /// When it was opened and when it was last released, in ticks of the pool.
    pub(super) opened: u32,
    pub(super) used: u32,
    /// The pool's generation when it was opened.
    pub(super) generation: u32,
    pub(super) session: SessionState,
    /// Whether a statement was found that no longer fits its view.
    pub(super) found_stale: bool,
    /// Whether it has not been used before.
    pub(super) is_new: bool,
    /// Whether the server has responded at all since the statement began, and whether it has
    /// started to run it.
    pub(super) answered: AtomicBool,
    pub(super) bound: AtomicBool,
}

impl Connection {
    pub(super) async fn open(target: &Target, now: u32) -> Result<Self, DriverError> {
        let Opened {
            client,
            wire,
            pooled,
            ..
        } = target.connect().await?;

        Ok(Self {
            client,
            wire,
            statements: StatementCache::new(target.statement_cache),
            preparing: false,
            in_transaction: false,
            session: SessionState::new(target.reset_session, pooled),
            found_stale: false,
            opened: now,
            used: now,
            generation: 0,
            is_new: true,
            answered: AtomicBool::new(false),
            bound: AtomicBool::new(false),
        })
    }

    /// Runs a statement. A statement made stale by a changed view is prepared again; no part of it
    /// has run by then.
    pub(super) async fn read(
        &mut self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let (setup, mut is_again) = (session.setup(), false);

        // A loop, because a second call would keep the first one from being inlined.
        loop {
            match self.read_once(setup, statement, sink).await {
                Err(error)
                    if !is_again
                        && error.is_stale_plan()
                        && !self.bound.load(Ordering::Relaxed) =>
                {
                    self.found_stale = true;
                    self.forget(setup, Some(statement));
                    sink.restart();
                    is_again = true;
                }
                Err(error) if !is_again && error.shows_change() => {
                    self.found_stale = true;
                    // The parameter types that PostgreSQL inferred may no longer fit.
                    self.forget(setup, Some(statement));
                    return Err(error);
                }
                result => return result,
            }
        }
    }

    /// Removes the prepared statements from the cache.
    #[cold]
    pub(super) fn forget(&mut self, setup: Option<&Statement>, statement: Option<&Statement>) {
        for statement in setup.into_iter().chain(statement) {
            self.statements.forget(&statement.text);
        }
    }

    // State that few reads need is boxed, to keep the future of a request small, as it is moved.
    async fn read_once(
        &mut self,
        setup: Option<&Statement>,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        // Looked up here, because nearly all statements are known and need no future.
        let prepared = match self.statements.find(statement) {
            Some(known) => known,
            None => boxed_rare(|| self.prepare(statement)).await?,
        };

        // A lone statement is its own transaction; behind a pooler, it needs one for its settings.
        if setup.is_none() && (self.session.pooled.is_none() || self.in_transaction) {
            let Some(switch) = self.session.switch(statement.replan) else {
                // Pinned here, as it is too large to move cheaply.
                let read = pin!(rows(&self.client, &self.bound, &prepared, statement, sink));
                return self.wire.drive(read).await;
            };

            return boxed_rare(|| self.read_switched(switch, statement, &prepared, sink)).await;
        }

        boxed_unmoved(|| self.read_with(setup, statement, &prepared, sink)).await
    }

    /// Reads behind the statement that switches how PostgreSQL plans.
    async fn read_switched(
        &mut self,
        switch: &'static str,
        statement: &Statement,
        prepared: &Prepared,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let read = rows(&self.client, &self.bound, prepared, statement, sink);
        let both = join(self.client.batch_execute(switch), read);
        let (switched, read) = self.wire.drive(both.map(Ok::<_, DriverError>)).await?;

        self.session.switched(statement.replan, switched)?;

        Ok(read?)
    }

    /// Reads in a transaction that starts with `setup`, if there is one.
    async fn read_with(
        &mut self,
        setup: Option<&Statement>,
        statement: &Statement,
        prepared: &Prepared,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let setup = match setup {
            Some(setup) => Some((setup, self.prepared(setup).await?)),
            None => None,
        };

        let switch = self.session.switch(statement.replan);
        let begin = self.session.begin("BEGIN", statement.replan);
        let mut settings = Vec::new();

        // All are sent at once, in this order. When one fails, PostgreSQL rejects the ones after
        // it, and the last one ends the transaction.
        let (client, answered, bound) = (&self.client, &self.answered, &self.bound);
        let all = join5(
            async {
                if let Some(switch) = switch {
                    client.batch_execute(switch).await
                } else {
                    Ok(())
                }
            },
            client.batch_execute(&begin),
            async {
                match &setup {
                    Some((setup, prepared)) => {
                        // Recorded apart from `bound`: a read whose plan is stale has not run yet,
                        // although its variables are set.
                        rows(client, answered, prepared, setup, &mut settings).await
                    }
                    None => Ok(()),
                }
            },
            rows(client, bound, prepared, statement, sink),
            client.batch_execute("COMMIT"),
        );

        let (switched, begun, set, read, ended) =
            self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        self.session.switched(statement.replan, switched)?;
        begun?;
        set?;
        read?;

        Ok(ended?)
    }

    /// Returns the prepared form of a statement, if it is prepared.
    pub(super) fn known(&mut self, statement: &Statement) -> Option<Prepared> {
        self.statements.find(statement)
    }

    pub(super) async fn prepared(
        &mut self,
        statement: &Statement,
    ) -> Result<Prepared, DriverError> {
        match self.known(statement) {
            Some(known) => Ok(known),
            None => Box::pin(self.prepare(statement)).await,
        }
    }

    async fn prepare(&mut self, statement: &Statement) -> Result<Prepared, DriverError> {
        self.preparing = true;
        let types: Vec<Type> = statement
            .params
            .iter()
            .map(|param| param.ty().clone())
            .collect();

        let prepared = self.prepare_text(&statement.text, &types).await?;
        self.preparing = false;

        // The server has responded, so a connection that is lost from now on did not die in the
        // pool.
        self.answered.store(true, Ordering::Relaxed);
        if !fits(statement, &prepared) {
            return Err(DriverError::Changed);
        }

        self.found_stale |= self.statements.keep(statement, &prepared) == Novelty::Changed;

        Ok(prepared)
    }

    /// Prepares a text. Behind a pooler, a text that was prepared before a view changed is replaced
    /// by another one: the pooler would use the statement that PostgreSQL has rejected.
    pub(super) async fn prepare_text(
        &mut self,
        text: &str,
        types: &[Type],
    ) -> Result<Prepared, DriverError> {
        let Some(pooled) = self.session.pooled.clone() else {
            return self.prepare_once(text, types).await;
        };

        match self.prepare_once(&pooled.text(text), types).await {
            Err(error) if error.is_stale_plan() => {
                pooled.renew_texts();

                // The error has ended an open transaction.
                if self.in_transaction {
                    return Err(error);
                }
                self.prepare_once(&pooled.text(text), types).await
            }
            prepared => prepared,
        }
    }

    /// Behind a pooler, names are resolved under the settings of a transaction.
    async fn prepare_once(&mut self, text: &str, types: &[Type]) -> Result<Prepared, DriverError> {
        if self.session.pooled.is_none() || self.in_transaction {
            return self
                .wire
                .drive(self.client.prepare_typed(text, types))
                .await;
        }

        let (client, begin) = (&self.client, self.session.begin("BEGIN", false));
        let all = join3(
            client.batch_execute(&begin),
            client.prepare_typed(text, types),
            client.batch_execute("COMMIT"),
        );

        let (begun, prepared, ended) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        begun?;
        let prepared = prepared?;
        ended?;

        Ok(prepared)
    }

    /// Records that a statement begins at this beat of the watchdog.
    pub(super) fn begin(&mut self, beat: u32) {
        (*self.answered.get_mut(), *self.bound.get_mut()) = (false, false);
        self.wire.watch().begin(beat);
    }

    /// Returns the watchdog's record of the connection.
    pub(super) fn watch(&self) -> &Arc<Watch> {
        self.wire.watch()
    }

    /// Whether a closed connection may have been closed before the last statement was sent. A
    /// server that is shut down during a statement first sends the messages it has produced.
    pub(super) fn has_died_idle(&self) -> bool {
        !self.is_new
            && !self.answered.load(Ordering::Relaxed)
            && !self.bound.load(Ordering::Relaxed)
    }

    /// Whether the connection is open, as far as is visible without a round trip.
    pub(super) fn is_alive(&mut self) -> bool {
        self.wire.is_alive()
    }

    /// Waits for the responses to everything sent.
    pub(super) async fn drain(&mut self) -> Result<(), DriverError> {
        // Responses arrive in the order of the messages, so that of an empty query is the last.
        self.wire.drive(self.client.batch_execute("")).await
    }

    /// The same, and rolls back an open transaction.
    pub(super) async fn reset(&mut self) -> Result<(), DriverError> {
        self.end(if self.in_transaction { "ROLLBACK" } else { "" })
            .await
    }

    /// Ends a transaction, and resets the session state that its statements have altered.
    pub(super) async fn end(&mut self, sql: &str) -> Result<(), DriverError> {
        let sql = self.session.end(sql);
        let end = self.client.batch_execute(&sql);
        drive_and_reset(&self.client, &mut self.wire, &mut self.session, end).await??;
        self.in_transaction = false;
        Ok(())
    }

    /// Sends the terminate message.
    pub(super) fn close(self) {
        // tokio-postgres sends the terminate message once its client is dropped and no response is
        // outstanding. Statements that are dropped before the client would ask for responses.
        drop(self.client);
        drop(self.statements);
        self.wire.close();
    }
}

/// Switches PostgreSQL back to its own choice of plans. On failure, statements are merely planned
/// again on each run.
pub(super) async fn switch_back(client: &Client, switch: Option<&'static str>) {
    if let Some(switch) = switch {
        let _ = client.batch_execute(switch).await;
    }
}

/// Drives the end of a transaction or write. If it may have altered the session, the reset is sent
/// right behind it, which costs no round trip. A connection whose session was not reset does not go
/// back to the pool.
pub(super) async fn drive_and_reset<T>(
    client: &Client,
    wire: &mut Wire,
    session: &mut SessionState,
    end: impl Future<Output = T>,
) -> Result<T, DriverError> {
    if !session.needs_reset() {
        return wire.drive(end.map(Ok::<_, DriverError>)).await;
    }

    if session.pooled.is_some() {
        // The reset is part of the message that ends the transaction.
        let ended = wire.drive(end.map(Ok::<_, DriverError>)).await?;
        session.was_reset();
        return Ok(ended);
    }

    let (ended, reset) = wire
        .drive_both(end, client.batch_execute(RESET_SESSION))
        .await?;
    if reset.is_ok() {
        session.was_reset();
    }

    Ok(ended)
}

/// Runs a statement and records when the server has accepted it; before that, no part of it has
/// run.
pub(crate) async fn rows(
    client: &Client,
    bound: &AtomicBool,
    prepared: &Prepared,
    statement: &Statement,
    sink: &mut dyn RowSink,
) -> Result<(), tokio_postgres::Error> {
    let mut rows = pin!(
        client
            .query_raw(prepared, statement.params.iter().map(Bound))
            .await?
    );

    // `query_raw` returns with `BindComplete`, the first sign that PostgreSQL has accepted the
    // statement.
    bound.store(true, Ordering::Relaxed);
    while let Some(row) = rows.try_next().await? {
        sink.row(row);
    }

    Ok(())
}

impl Param {
    /// Returns the type that a value is bound as.
    fn ty(&self) -> &'static Type {
        match self {
            Self::Text(_) | Self::Pattern(..) | Self::CursorKey(_) => &Type::TEXT,
            Self::Texts(_) => &Type::TEXT_ARRAY,
            Self::Int(_) => &Type::INT8,
            // PostgreSQL infers the type.
            Self::Variable(_) => &Type::UNKNOWN,
        }
    }

    pub(super) fn is_of(&self, ty: &Type) -> bool {
        matches!(self, Self::Variable(_)) || self.ty() == ty
    }
}

/// Hides a value from the driver, which would log it at the level `debug`.
pub(super) struct Bound<'a>(pub(super) &'a Param);

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match self.0 {
            Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => {
                text.to_sql(ty, out)
            }
            Param::Texts(texts) => texts.to_sql(ty, out),
            Param::Int(value) => value.to_sql(ty, out),
            Param::Variable(value) => super::variable::write(value, ty, out),
        }
    }

    fn encode_format(&self, _: &Type) -> Format {
        if matches!(self.0, Param::Variable(_)) {
            Format::Text
        } else {
            Format::Binary
        }
    }

    fn accepts(_: &Type) -> bool {
        // A statement is prepared for the types of its values, or its values are sent as text.
        true
    }

    to_sql_checked!();
}
