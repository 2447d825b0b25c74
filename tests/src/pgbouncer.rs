//! The program PgBouncer. This file is also a module of `xtask`, which does not depend on the tests.

use std::ffi::OsString;
use std::path::Path;

/// Returns the program named by the environment, or where Debian has it, which is on root's path
/// alone, or on the path.
pub(crate) fn program() -> OsString {
    let debian = Path::new("/usr/sbin/pgbouncer");
    std::env::var_os("SVC_PGBOUNCER").unwrap_or_else(|| {
        if debian.is_file() {
            debian.into()
        } else {
            "pgbouncer".into()
        }
    })
}
