//! A database that lives as long as its test.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::location::{with_database, with_role};
use super::server::{Server, server};
use super::setup::{ReadSetup, hash};
use super::{connect, template};
use svc_core::{Error, Result};
use svc_postgres::{ConnectConfig, ScriptConnection};

/// The maximum time that a test waits for its database to be dropped.
const DROPPING: Duration = Duration::from_secs(30);

/// Copies the settings that `ALTER DATABASE` has made on a template, which `CREATE DATABASE` does
/// not copy. `$1` and `$2` are replaced.
const COPY_SETTINGS: &str = "DO $svc$
    DECLARE setting text; name text;
    BEGIN
        FOR setting IN
            SELECT unnest(s.setconfig) FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase
            WHERE d.datname = '$1' AND s.setrole = 0
        LOOP
            name := split_part(setting, '=', 1);
            PERFORM set_config(name, substr(setting, length(name) + 2), true);
            EXECUTE format('ALTER DATABASE $2 SET %s FROM CURRENT', (
                SELECT string_agg(quote_ident(part), '.') FROM unnest(string_to_array(name, '.')) AS part));
        END LOOP;
    END $svc$";

/// A database that is dropped with this value, unless its test fails.
pub(in crate::testing) struct LiveDatabase {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) owner_url: String,
    server: &'static Server,
    /// The session that locks the name as long as it is open; `None` once the database is being
    /// dropped.
    session: Mutex<Option<ScriptConnection>>,
    has_failed: AtomicBool,
}

impl LiveDatabase {
    /// Creates the database of a test. It blocks, so it is called outside of tasks.
    pub(super) fn create(setup: &ReadSetup, test: &str) -> Result<Self> {
        let server = server()?;
        server.runtime.block_on(Self::copied(server, setup, test))
    }

    async fn copied(server: &'static Server, setup: &ReadSetup, test: &str) -> Result<Self> {
        let mut session = connect(&server.url).await?;

        // `DROP DATABASE IF EXISTS` would send a notice for each test.
        session.run("SET client_min_messages = warning").await?;
        let template = template::ensure(&mut session, &server.url, setup).await?;
        let name = free_name(
            &mut session,
            &format!("{}/{test}", setup.folder.display()),
            test,
        )
        .await?;

        // A failed run of the test leaves its database to the next one.
        session
            .run(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            .await?;
        session
            .run(&format!("CREATE DATABASE {name} TEMPLATE {template}"))
            .await?;
        session
            .run(&COPY_SETTINGS.replace("$1", &template).replace("$2", &name))
            .await?;
        let owner_url = with_database(&server.url, &name);
        let url = setup
            .role
            .as_ref()
            .map_or_else(|| owner_url.clone(), |role| with_role(&owner_url, role));
        let session = Mutex::new(Some(session));

        Ok(Self {
            name,
            url,
            owner_url,
            server,
            session,
            has_failed: AtomicBool::new(false),
        })
    }

    /// Keeps the database, as its test has failed.
    pub(in crate::testing) fn test_failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Prints where the database of a failed test is, or how to keep it.
    #[expect(
        clippy::print_stderr,
        reason = "it belongs beside the message of the test"
    )]
    fn tell(&self) {
        if self.server.stays {
            eprintln!(
                "the database of the failed test is kept: {}",
                ConnectConfig::shown(&self.owner_url)
            );
        } else {
            eprintln!(
                "the database of the failed test ends with the embedded server; name a server of your own with \
                 SVC_TEST_DATABASE_URL, and it is kept"
            );
        }
    }
}

/// Reserves a name that no other running test has: the test's own, unless another run of the test
/// has reserved it.
async fn free_name(session: &mut ScriptConnection, identity: &str, test: &str) -> Result<String> {
    let letters: String = test
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();

    // The end of a path distinguishes tests best. The name must fit into 63 bytes, where PostgreSQL
    // cuts it.
    let end = &letters[letters.len().saturating_sub(35)..];
    let own = format!(
        "svc_test_{}_{}",
        end.trim_matches('_'),
        &hash(identity)[..8]
    );

    for number in 1..1_000 {
        let name = if number == 1 {
            own.clone()
        } else {
            format!("{own}_{number}")
        };

        // `is` binds one parameter, so the statement must contain `$1`.
        let lock = format!(
            "SELECT pg_try_advisory_lock({}) AND $1 <> ''",
            template::key(&name)
        );

        if session.is(&lock, &name).await? {
            return Ok(name);
        }
    }

    Err(Error::internal(format!(
        "a thousand runs of the test {test} are under way"
    )))
}

impl Drop for LiveDatabase {
    fn drop(&mut self) {
        let session = self
            .session
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();

        if *self.has_failed.get_mut() || std::thread::panicking() {
            self.tell();
            return;
        }

        let Some(mut session) = session else { return };
        let (done, waits) = mpsc::channel();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);

        // The runtime of the test may have ended, and `block_on` panics inside of a task.
        self.server.runtime.spawn(async move {
            if let Err(error) = session.run(&statement).await {
                tracing::warn!(
                    error = error.with_sources(),
                    "cannot drop the database of a test"
                );
            }
            // The receiver may have timed out.
            let _ = done.send(());
        });

        // If dropping takes longer, the database is dropped when the test runs again.
        let _ = waits.recv_timeout(DROPPING);
    }
}

impl std::fmt::Debug for LiveDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveDatabase")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
