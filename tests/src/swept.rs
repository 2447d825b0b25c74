//! Databases of tests that have ended. Kept to the end of the test program, they would fill ten
//! gigabytes of the disk.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::{cluster, sessions};

thread_local! {
    static CREATED: RefCell<Created> = const { RefCell::new(Created(Vec::new())) };
}

/// The thread that drops databases, behind the tests that run.
static SWEEPER: LazyLock<Sender<String>> = LazyLock::new(|| {
    let (sender, names) = channel();
    std::thread::spawn(|| sweep(names));
    sender
});

/// The databases that a thread has created. The test harness runs each test in a thread of its own,
/// so the end of the thread is the end of the test; the test's value for the database may end
/// before its service does.
struct Created(Vec<String>);

impl Drop for Created {
    fn drop(&mut self) {
        for name in self.0.drain(..) {
            // Without the sweeper, the database ends with the cluster.
            let _ = SWEEPER.send(name);
        }
    }
}

/// Drops a database after the test that runs in this thread.
pub(crate) fn drop_after_test(name: String) {
    // A thread that ends cannot start another.
    LazyLock::force(&SWEEPER);
    CREATED.with_borrow_mut(|created| created.0.push(name));
}

fn sweep(names: Receiver<String>) {
    for name in names {
        let statements = [
            forget_statements(&name),
            format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
        ];
        // The cluster may have ended with the program.
        let _ = cluster::runtime().block_on(sessions::administer(&statements));
    }
}

/// SQL that removes the statements of a database from the statistics: each count reads those of all
/// databases.
pub(crate) fn forget_statements(database: &str) -> String {
    format!(
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = '{database}'"
    )
}
