//! Whether the database responds, and the task that watches it.

use std::sync::atomic::Ordering;
use std::sync::{PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::{CheckError, Database};
use crate::DbError;
use crate::driver::DriverError;

/// The delays between attempts to reach an unreachable database: the first and the longest.
const RETRY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// The minimum time between two checks of the database, however often requests suspect an outage.
const PAUSE: Duration = Duration::from_millis(250);

/// The maximum number of reasons logged per outage: each server of a cluster may have its own.
const MAX_REASONS: usize = 20;

/// The time to wait for the response to a ping.
const ANSWER: Duration = Duration::from_secs(1);

/// Whether the database responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Not tried yet.
    Unknown,
    /// The application's set-up runs, or is about to.
    SettingUp,
    Up,
    Unreachable,
    /// It responds, but with a permanent error: a setting, the set-up or a privilege is wrong.
    Misconfigured,
    /// It responds, but is not used: required policies do not bind.
    Unbound,
}

impl Database {
    /// Waits for the first verdict. Fails at once while the database is unreachable or must not be
    /// used.
    pub(crate) async fn reached(&self) -> Result<(), DbError> {
        if self.is_up() {
            return Ok(());
        }

        let mut health = self.health.subscribe();
        let verdict =
            health.wait_for(|health| !matches!(health, Health::Unknown | Health::SettingUp));
        match timeout(self.acquire_timeout, verdict).await {
            Ok(Ok(health)) if *health == Health::Up => Ok(()),
            Ok(Ok(health)) if *health == Health::Unbound => Err(DbError::UnboundPolicies),
            Ok(Ok(health)) if *health == Health::Misconfigured => Err(DbError::Misconfigured(
                self.reason().filter(|_| self.tells_reason),
            )),
            _ => Err(self.without_verdict()),
        }
    }

    /// The error for requests that have waited for a verdict in vain.
    fn without_verdict(&self) -> DbError {
        if *self.health.borrow() == Health::SettingUp {
            DbError::SettingUp
        } else {
            DbError::Unreachable
        }
    }

    /// Whether the database responded at the last check.
    pub fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Acquire)
    }

    /// Stops using the database until the watcher finds that policies bind again.
    pub(crate) fn stop_using(&self) {
        self.changes.forget_look();
        self.tell(Health::Unbound);
    }

    /// Makes requests wait until the application's set-up has run.
    pub(crate) fn wait_for_setup(&self) {
        self.tell(Health::SettingUp);
    }

    /// Records a sign that the database is unreachable. Only the watcher decides whether it is, on
    /// a dedicated connection and for all concurrent requests.
    pub(crate) fn suspect(&self) {
        self.suspected.notify_one();
    }

    /// A round trip through the pool.
    ///
    /// # Errors
    /// [`DbError::PoolTimedOut`] and [`DbError::TooManyConnections`] when no connection is
    /// available, [`DbError::Unreachable`] when there is no response.
    pub async fn ping(&self) -> Result<(), DbError> {
        timeout(ANSWER, self.reached())
            .await
            .unwrap_or_else(|_| Err(self.without_verdict()))?;

        match self
            .driver
            .ping(ANSWER, self.answers())
            .await
            .map_err(|error| self.noted(error))
        {
            Err(DbError::Unanswered) => Err(DbError::Unreachable),
            done => done,
        }
    }

    /// Whether the watcher gets a response, on its own connection.
    async fn answers(&self) -> bool {
        // Before the check is requested, as its verdict may come at once.
        let mut health = self.health.subscribe();
        self.suspect();
        timeout(ANSWER, health.changed()).await.is_ok() && self.is_up()
    }

    /// Returns why the database could not be used at the last check; `None` if it could.
    pub fn reason(&self) -> Option<String> {
        self.reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_reason(&self, reason: Option<String>) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    fn tell(&self, health: Health) {
        // Under the channel's lock, so that both always agree.
        self.health.send_modify(|known| {
            self.is_up.store(health == Health::Up, Ordering::Release);
            if health != Health::Up {
                // Changes go unseen meanwhile, and a different server may come back.
                self.end_schema_version();
            }
            *known = health;
        });
    }
}

impl DriverError {
    /// Whether the database may be unreachable. A connection that closes in the middle of a
    /// statement is no sign of that.
    pub(crate) fn is_sign_of_absence(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Unanswered | Self::PoolTimedOut
        )
    }
}

/// Checks the database, and retries while it is unreachable. Logs once when it goes and once when
/// it comes back.
pub(crate) async fn watch_over(database: Weak<Database>) {
    let mut pause = RETRY[0];

    // The reasons logged since the database was last reachable.
    let mut said = Vec::new();
    loop {
        let Some(strong) = database.upgrade() else {
            return;
        };

        if strong.is_read_only.swap(false, Ordering::AcqRel) {
            // A switch-over leaves connections open to the former primary.
            strong.driver.retire_connections();
        }

        let result = strong.check().await;
        match result {
            Ok(()) => {
                if !said.is_empty() {
                    tracing::info!(database = strong.place(), "the database is available again");
                }

                said.clear();
                pause = RETRY[0];
                strong.note_reason(None);
                strong.tell(Health::Up);
                let health = strong.health.subscribe();
                let suspected = strong.suspected.clone();

                // Without a reference, so that the database can be dropped during the wait.
                drop(strong);

                if !wait_for_a_reason(health, &suspected).await {
                    return;
                }
            }
            Err(error) => {
                let reason = error.to_string();
                if !said.contains(&reason) && said.len() < MAX_REASONS {
                    let place = strong.place();
                    tracing::warn!(
                        database = place,
                        error = reason,
                        "the database cannot be used; retrying"
                    );
                    said.push(reason.clone());
                }

                // Before the verdict, as requests read the reason once they see that.
                strong.note_reason(Some(reason));

                match error {
                    CheckError::Unbound(_) => strong.stop_using(),
                    CheckError::Driver(error) if error.is_mistake() => {
                        strong.tell(Health::Misconfigured);
                    }
                    CheckError::Driver(_) => strong.tell(Health::Unreachable),
                }

                drop(strong);
                sleep(pause).await;

                pause = (pause * 2).min(RETRY[1]);
            }
        }
    }
}

/// Waits until a request suspects that the database is unreachable, or a check has found that
/// policies do not bind. Returns `false` when the database is no longer needed.
async fn wait_for_a_reason(mut health: watch::Receiver<Health>, suspected: &Notify) -> bool {
    let told = async {
        health
            .wait_for(|health| *health != Health::Up)
            .await
            .is_ok()
    };

    // Neither a busy pool nor clients that send requests repeatedly must make us read the catalog
    // repeatedly.
    let suspected = async {
        sleep(PAUSE).await;
        suspected.notified().await;
    };

    tokio::select! {
        is_there = told => is_there,
        () = suspected => true,
    }
}
