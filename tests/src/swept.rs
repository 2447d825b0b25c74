//! Databases of tests that have ended. Kept to the end of the test program, they would fill ten
//! gigabytes of the disk.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::cluster;
use crate::sessions::{self, administer, administrative};

thread_local! {
    static CREATED: RefCell<Created> = const { RefCell::new(Created(Vec::new())) };
}

/// The thread that drops databases, behind the tests that run.
static SWEEPER: LazyLock<Sender<Ended>> = LazyLock::new(|| {
    let (sender, ended) = channel();
    std::thread::spawn(|| sweep(ended));
    sender
});

/// The end of the use of databases.
enum Ended {
    /// Of one database.
    Database(String),
    /// Of all databases of a test program that shared the cluster.
    Program(u32),
}

/// The databases that a thread has created. The test harness runs each test in a thread of its own,
/// so the end of the thread is the end of the test; the test's value for the database may end
/// before its service does.
struct Created(Vec<String>);

impl Drop for Created {
    fn drop(&mut self) {
        for name in self.0.drain(..) {
            // Without the sweeper, the database ends with the cluster.
            let _ = SWEEPER.send(Ended::Database(name));
        }
    }
}

/// Drops a database after the test that runs in this thread.
pub(crate) fn drop_after_test(name: String) {
    // A thread that ends cannot start another.
    LazyLock::force(&SWEEPER);
    CREATED.with_borrow_mut(|created| created.0.push(name));
}

/// Drops the databases of a test program that has ended, by the number of its process.
pub(crate) fn drop_databases_of(program: u32) {
    // Without the sweeper, they end with the cluster.
    let _ = SWEEPER.send(Ended::Program(program));
}

fn sweep(all: Receiver<Ended>) {
    for ended in all {
        // The cluster may have ended with the program.
        let _ = cluster::runtime().block_on(drop_databases(ended));
    }
}

async fn drop_databases(ended: Ended) -> sqlx::Result<()> {
    let names = match ended {
        Ended::Database(name) => vec![name],
        Ended::Program(program) => databases_of(program).await?,
    };
    for name in names {
        let drop = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
        administer(&[forget_statements(&name), drop]).await?;
    }
    Ok(())
}

async fn databases_of(program: u32) -> sqlx::Result<Vec<String>> {
    let mut session = administrative().await;
    let names = sqlx::query_scalar(
        "SELECT datname::text FROM pg_database WHERE datname ~ ('^(test|template|shared)_' || $1 || '_')",
    )
    .bind(program.to_string())
    .fetch_all(&mut session)
    .await?;
    sessions::keep(session);
    Ok(names)
}

/// SQL that removes the statements of a database from the statistics: each count reads those of all
/// databases.
pub(crate) fn forget_statements(database: &str) -> String {
    format!(
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = '{database}'"
    )
}
