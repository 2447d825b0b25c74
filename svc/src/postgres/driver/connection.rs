//! One connection: prepared statements, and reads.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use futures_util::future::{join, join3, join5};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Statement as Prepared};

use super::DriverError;
use super::config::{Opened, Target};
use super::session_state::{RESET_SESSION, SessionState};
use super::statement_cache::{Novelty, StatementCache, fits};
use super::variable::BoxError;
use super::watch::Watch;
use super::wire::Wire;
use crate::postgres::{Param, RowSink, Session, Statement};

/// A connection with the statements that are prepared on it. It is read and written only while something is asked of
/// it.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) wire: Wire,
    statements: StatementCache,
    /// Whether a statement may be prepared that `statements` does not know.
    pub(super) preparing: bool,
    /// Whether a transaction is open between statements.
    pub(super) in_transaction: bool,
    /// The times at which it was opened and at which it came back last, in ticks of the pool.
    pub(super) opened: u32,
    pub(super) used: u32,
    /// Counts the times that all connections were given up before it was opened.
    pub(super) generation: u32,
    pub(super) session: SessionState,
    /// Whether a statement was found not to fit its view any more.
    pub(super) found_stale: bool,
    /// Whether it has not been used before.
    pub(super) is_new: bool,
    /// Whether the server has answered anything since the statement began, and whether it has begun to run it.
    pub(super) answered: AtomicBool,
    pub(super) bound: AtomicBool,
}

impl Connection {
    pub(super) async fn open(target: &Target, now: u32) -> Result<Self, DriverError> {
        let Opened { client, wire, pooled, .. } = target.connect().await?;
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

    /// Runs a statement. One that a changed view has made stale is prepared again; nothing of it has run then.
    pub(super) async fn read(
        &mut self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let setup = session.setup();
        match self.read_once(setup, statement, sink).await {
            Err(error) if error.is_stale_plan() && !self.bound.load(Ordering::Relaxed) => {
                self.found_stale = true;
                self.forget(setup, Some(statement));
                sink.restart();
                self.read_once(setup, statement, sink).await
            }
            Err(error) if error.shows_change() => {
                self.found_stale = true;
                // PostgreSQL may have found types for its parameters that do not fit any more.
                self.forget(setup, Some(statement));
                Err(error)
            }
            result => result,
        }
    }

    /// Forgets what was prepared for a statement.
    pub(super) fn forget(&mut self, setup: Option<&Statement>, statement: Option<&Statement>) {
        for statement in setup.into_iter().chain(statement) {
            self.statements.forget(&statement.text);
        }
    }

    // What few reads need is boxed, so that the future of a request, which is moved, stays small.
    async fn read_once(
        &mut self,
        setup: Option<&Statement>,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let prepared = self.prepared(statement).await?;
        if setup.is_none() && (self.session.pooled.is_none() || self.in_transaction) {
            let Some(switch) = self.session.switch(statement.replan) else {
                // Pinned here, as it is large to be moved.
                let read = pin!(rows(&self.client, &self.bound, &prepared, statement, sink));
                return self.wire.drive(read).await;
            };
            let read = rows(&self.client, &self.bound, &prepared, statement, sink);
            let both = join(self.client.batch_execute(switch), read);
            let (switched, read) = Box::pin(self.wire.drive(both.map(Ok::<_, DriverError>))).await?;
            switched?;
            return Ok(read?);
        }
        Box::pin(self.read_with(setup, statement, &prepared, sink)).await
    }

    /// Reads in a transaction that begins with `setup`, if there is one.
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
        // All are sent at once, in this order. When one fails, PostgreSQL refuses those after it, and the last one ends
        // the transaction.
        let (client, answered, bound) = (&self.client, &self.answered, &self.bound);
        let all = join5(
            async { if let Some(switch) = switch { client.batch_execute(switch).await } else { Ok(()) } },
            client.batch_execute(&begin),
            async {
                match &setup {
                    Some((setup, prepared)) => rows(client, answered, prepared, setup, &mut settings).await,
                    None => Ok(()),
                }
            },
            rows(client, bound, prepared, statement, sink),
            client.batch_execute("COMMIT"),
        );
        let (switched, begun, set, read, ended) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        switched?;
        begun?;
        set?;
        read?;
        Ok(ended?)
    }

    pub(super) async fn prepared(&mut self, statement: &Statement) -> Result<Prepared, DriverError> {
        match self.statements.find(statement) {
            Some(known) => Ok(known),
            None => Box::pin(self.prepare(statement)).await,
        }
    }

    async fn prepare(&mut self, statement: &Statement) -> Result<Prepared, DriverError> {
        self.preparing = true;
        let types: Vec<Type> = statement.params.iter().map(|param| param.ty().clone()).collect();
        let prepared = self.prepare_text(&statement.text, &types).await?;
        self.preparing = false;
        self.answered.store(true, Ordering::Relaxed);
        if !fits(statement, &prepared) {
            return Err(DriverError::Changed);
        }
        self.found_stale |= self.statements.keep(statement, &prepared) == Novelty::Changed;
        Ok(prepared)
    }

    /// Prepares a text. Behind a pooler its names are looked up with the settings of a transaction.
    pub(super) async fn prepare_text(&mut self, text: &str, types: &[Type]) -> Result<Prepared, DriverError> {
        if self.session.pooled.is_none() || self.in_transaction {
            return self.wire.drive(self.client.prepare_typed(text, types)).await;
        }
        let (client, begin) = (&self.client, self.session.begin("BEGIN", false));
        let all =
            join3(client.batch_execute(&begin), client.prepare_typed(text, types), client.batch_execute("COMMIT"));
        let (begun, prepared, ended) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;
        begun?;
        let prepared = prepared?;
        ended?;
        Ok(prepared)
    }

    /// A statement begins, at this beat of the watchdog.
    pub(super) fn begin(&mut self, beat: u32) {
        (*self.answered.get_mut(), *self.bound.get_mut()) = (false, false);
        self.wire.watch().begin(beat);
    }

    /// Returns the watchdog's record of it.
    pub(super) fn watch(&self) -> &Arc<Watch> {
        self.wire.watch()
    }

    /// Whether a connection that has ended may have done so before the last statement came. A server that is told to
    /// end in the middle of one sends what it has answered until then.
    pub(super) fn has_died_idle(&self) -> bool {
        !self.is_new && !self.answered.load(Ordering::Relaxed) && !self.bound.load(Ordering::Relaxed)
    }

    /// Whether the server has not ended the connection, as far as is known here.
    pub(super) fn is_alive(&mut self) -> bool {
        self.wire.is_alive()
    }

    /// Waits until everything that was asked is answered.
    pub(super) async fn drain(&mut self) -> Result<(), DriverError> {
        self.wire.drive(self.client.batch_execute("")).await
    }

    /// The same, and undoes a transaction that is open.
    pub(super) async fn reset(&mut self) -> Result<(), DriverError> {
        self.end(if self.in_transaction { "ROLLBACK" } else { "" }).await
    }

    /// Ends a transaction, and whatever its statements have set for the session.
    pub(super) async fn end(&mut self, sql: &str) -> Result<(), DriverError> {
        let sql = self.session.end(sql);
        let end = self.client.batch_execute(&sql);
        drive_and_reset(&self.client, &mut self.wire, &mut self.session, end).await??;
        self.in_transaction = false;
        Ok(())
    }

    /// Says goodbye, as far as it can be said without waiting.
    pub(super) fn close(self) {
        drop(self.statements);
        drop(self.client);
        self.wire.close();
    }
}

/// Has PostgreSQL plan statements as it likes again. A failure leaves plans that are made anew each time.
pub(super) async fn switch_back(client: &Client, switch: Option<&'static str>) {
    if let Some(switch) = switch {
        let _ = client.batch_execute(switch).await;
    }
}

/// Drives the end of something. If that may have altered the session, what resets it is sent behind, which costs no round
/// trip; a connection whose session was not reset does not go back to the pool.
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
        // The end of the transaction has the reset with it.
        let ended = wire.drive(end.map(Ok::<_, DriverError>)).await?;
        session.was_reset();
        return Ok(ended);
    }
    let (ended, reset) = wire.drive_both(end, client.batch_execute(RESET_SESSION)).await?;
    if reset.is_ok() {
        session.was_reset();
    }
    Ok(ended)
}

/// Runs a statement; notes when the server has accepted it, before which nothing of it has run.
pub(super) async fn rows(
    client: &Client,
    bound: &AtomicBool,
    prepared: &Prepared,
    statement: &Statement,
    sink: &mut dyn RowSink,
) -> Result<(), tokio_postgres::Error> {
    let mut rows = pin!(client.query_raw(prepared, statement.params.iter().map(Bound)).await?);
    bound.store(true, Ordering::Relaxed);
    while let Some(row) = rows.try_next().await? {
        sink.row(row);
    }
    Ok(())
}

impl Param {
    /// Returns the type as which a value is bound.
    fn ty(&self) -> &'static Type {
        match self {
            Self::Text(_) | Self::Pattern(..) | Self::CursorKey(_) => &Type::TEXT,
            Self::Texts(_) => &Type::TEXT_ARRAY,
            Self::Int(_) => &Type::INT8,
            // PostgreSQL finds the type.
            Self::Variable(_) => &Type::UNKNOWN,
        }
    }

    pub(super) fn is_of(&self, ty: &Type) -> bool {
        matches!(self, Self::Variable(_)) || self.ty() == ty
    }
}

/// A value for the driver, which would write it to its log at the level `debug`.
pub(super) struct Bound<'a>(pub(super) &'a Param);

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match self.0 {
            Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => text.to_sql(ty, out),
            Param::Texts(texts) => texts.to_sql(ty, out),
            Param::Int(value) => value.to_sql(ty, out),
            Param::Variable(value) => super::variable::write(value, ty, out),
        }
    }

    fn encode_format(&self, _: &Type) -> Format {
        if matches!(self.0, Param::Variable(_)) { Format::Text } else { Format::Binary }
    }

    fn accepts(_: &Type) -> bool {
        // A statement is prepared for the types of its values, or its values are text.
        true
    }

    to_sql_checked!();
}
