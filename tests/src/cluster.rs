//! The PostgreSQL of a test program.

use std::sync::OnceLock;

use svc_embedded::{Database, Options};

use crate::{is_pooled, log};

/// The PostgreSQL of this test program; it ends with the program.
pub fn cluster() -> &'static Database {
    static CLUSTER: OnceLock<Database> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        log::capture();
        // A thread and a runtime of its own: those of the first test would end with it.
        let start = std::thread::spawn(|| {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let options = Options::temporary()
                .tcp(is_pooled())
                .max_connections(400)
                .setting("shared_preload_libraries", "pg_stat_statements")
                .setting("pg_stat_statements.track", "all")
                // Small tables whose statements look costly: compiling one takes a second, and
                // running it a millisecond.
                .setting("jit", "off")
                // Thousands of tests make statements, which must not push out those that one of
                // them counts.
                .setting("pg_stat_statements.max", "100000");
            let database = runtime
                .block_on(Database::start(options))
                .expect("the tests need PostgreSQL");
            std::mem::forget(runtime);
            database
        });
        start.join().expect("the cluster's thread")
    })
}
