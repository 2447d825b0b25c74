//! The parts of a transaction. Each begins with the settings of the beginning, and with a savepoint:
//! the savepoints that it makes end with that one, so that no other part returns to them.

use futures_util::FutureExt as _;
use futures_util::future::join3;
use tokio_postgres::Row;

use super::OpenTransaction;
use crate::Session;
use crate::driver::DriverError;
use crate::driver::connection::{Connection, rows};

const BEGIN: &str = "SAVEPOINT svc_part";
const KEEP: &str = "RELEASE SAVEPOINT svc_part; ";
const UNDO: &str = "ROLLBACK TO SAVEPOINT svc_part; RELEASE SAVEPOINT svc_part";

impl OpenTransaction {
    /// Gives the session the settings of the beginning again, whatever statements have set in it
    /// for the rest of the transaction: the role, its parameters, and the variables of the request.
    /// Removes its temporary tables and cursors.
    pub async fn restore(&mut self, session: &Session) -> Result<(), DriverError> {
        if !self.may_have_settings {
            return Ok(());
        }
        self.restore_between("", session, "").await
    }

    /// Begins a part, with the settings of the beginning.
    pub(super) async fn begin_part(&mut self, session: &Session) -> Result<(), DriverError> {
        if self.may_have_settings {
            return self.restore_between("", session, BEGIN).await;
        }

        let begun = self.connection()?.send(BEGIN).await;
        self.conclude(begun)
    }

    /// Ends a part. Its writes are kept, and its settings are not.
    pub async fn keep_part(&mut self, session: &Session) -> Result<(), DriverError> {
        self.restore_between(KEEP, session, "").await
    }

    /// Undoes a part, also after a failed statement. That undoes its settings too.
    pub async fn undo_part(&mut self) -> Result<(), DriverError> {
        let undone = self.connection()?.send(UNDO).await;
        self.may_have_settings = undone.is_err();
        self.conclude(undone)
    }

    /// Restores the settings between two commands.
    async fn restore_between(
        &mut self,
        before: &str,
        session: &Session,
        after: &str,
    ) -> Result<(), DriverError> {
        let restored = self.connection()?.restore(before, session, after).await;
        self.may_have_settings = restored.is_err();
        self.conclude(restored)
    }
}

impl Connection {
    /// Undoes the settings of the session since the beginning of a transaction, and then sets the
    /// variables of the request, in one round trip. `before` and `after` are commands around that.
    async fn restore(
        &mut self,
        before: &str,
        session: &Session,
        after: &str,
    ) -> Result<(), DriverError> {
        let mut restore = format!("{before}{}", self.session.restore());
        let Some(setup) = session.setup() else {
            return self.send(&format!("{restore}; {after}")).await;
        };

        let prepared = match self.known(setup) {
            Some(known) => known,
            // It must not be looked up under another search path.
            None => {
                self.send(&std::mem::take(&mut restore)).await?;
                self.prepared(setup).await?
            }
        };

        let mut settings: Vec<Row> = Vec::new();
        let all = join3(
            self.client.batch_execute(&restore),
            rows(
                &self.client,
                &self.answered,
                &prepared,
                setup,
                &mut settings,
            ),
            async {
                match after {
                    "" => Ok(()),
                    after => self.client.batch_execute(after).await,
                }
            },
        );

        let (restored, set, ended) = self.wire.drive(all.map(Ok::<_, DriverError>)).await?;

        Ok(restored.and(set).and(ended)?)
    }

    async fn send(&mut self, sql: &str) -> Result<(), DriverError> {
        self.wire.drive(self.client.batch_execute(sql)).await
    }
}
