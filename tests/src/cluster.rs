//! The PostgreSQL of a test program.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use svc_embedded::{Database, Options};
use tokio::runtime::{Handle, Runtime};

use crate::{is_pooled, log, sessions};

/// The variable that names the root of a cluster that this test program shares. It does not start
/// with `SVC_`, because a service logs unknown names that do.
const SHARED: &str = "TESTS_CLUSTER";

static CLUSTER: OnceLock<Cluster> = OnceLock::new();

/// The PostgreSQL of a test program, and a runtime that does not end before the program.
struct Cluster {
    database: Database,
    runtime: Handle,
}

/// Returns the variable with which a further test program shares the cluster of this one; `None` if
/// it has none yet, or if the files of the cluster are outside its root.
pub(crate) fn shared() -> Option<(&'static str, &'static Path)> {
    let data = CLUSTER.get()?.database.data();
    let is_in_root = data.file_name() == Some(OsStr::new("postgres"));
    Some((SHARED, data.parent().filter(|_| is_in_root)?))
}

/// The PostgreSQL of this test program, which ends with the program, or of the one that runs it.
pub fn cluster() -> &'static Database {
    &running().database
}

/// The runtime of connections that outlast a test.
pub(crate) fn runtime() -> &'static Handle {
    &running().runtime
}

fn running() -> &'static Cluster {
    CLUSTER.get_or_init(|| {
        log::capture();
        // A thread and a runtime of its own: those of the first test would end with it.
        let start = std::thread::spawn(start);
        start.join().expect("the cluster's thread")
    })
}

fn start() -> Cluster {
    let runtime = Runtime::new().expect("a runtime");
    let database = runtime
        .block_on(Database::start(options()))
        .expect("the tests need PostgreSQL");
    // A program that shares the cluster finds them there.
    if !database.is_shared() {
        runtime.block_on(create_statistics(&database));
    }

    let handle = runtime.handle().clone();
    std::mem::forget(runtime);
    Cluster {
        database,
        runtime: handle,
    }
}

fn options() -> Options {
    std::env::var_os(SHARED)
        .map_or_else(Options::temporary, Options::new)
        .tcp(is_pooled())
        .max_connections(400)
        .setting("shared_preload_libraries", "pg_stat_statements")
        .setting("pg_stat_statements.track", "all")
        // Small tables whose statements look costly: compiling one takes a second, and
        // running it a millisecond.
        .setting("jit", "off")
        // Its workers visit the databases of all tests that have ended, up to ten a second.
        // Tests that need statistics run ANALYZE.
        .setting("autovacuum", "off")
        // Above the number of statements of the tests that run, as none may push out those that a
        // test counts. PostgreSQL shrinks the file of their texts, which each count reads as a
        // whole, only when it is too large for this number.
        .setting("pg_stat_statements.max", "20000")
}

/// Creates the view of the statements of all databases in the database `postgres`, for
/// administrative sessions.
async fn create_statistics(database: &Database) {
    let mut session = sessions::connect(database.url()).await;
    let create = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements";
    sessions::run(&mut session, create)
        .await
        .expect("the extension");
    sessions::keep(session);
}
