//! The role of requests, to which row-level security applies.

use super::{
    Database,
    quote::{literal, quoted},
};
use crate::Result;

/// Creates the role unless it exists.
pub(crate) async fn create(database: &Database, role: &str) -> Result<()> {
    database
        .make(format!(
            "CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS",
            quoted(role)
        ))
        .await
}

/// Returns the statements that grant the role its privileges, also on objects created later.
pub(crate) fn grants(role: &str) -> String {
    let role = quoted(role);
    let grant = |what: &str| {
        // The name becomes a part of the format string of `format`, where `%` has a meaning.
        format!(
            "EXECUTE format({}, schema);",
            literal(&format!("GRANT {what} TO {}", role.replace('%', "%%")))
        )
    };

    let each = [
        "USAGE ON SCHEMA %1$I",
        "USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %1$I",
        "EXECUTE ON ALL ROUTINES IN SCHEMA %1$I",
    ]
    .map(grant);

    // The functions of these schemas are enough, and the role must not read password hashes.
    let tables = format!(
        "IF schema NOT IN ('svc_auth', 'svc_errors') THEN {} END IF;",
        grant("SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %1$I")
    );

    // `ON ALL TABLES` and the like cover existing objects only.
    let later = [
        "USAGE ON SCHEMAS",
        "SELECT, INSERT, UPDATE, DELETE ON TABLES",
        "USAGE, SELECT ON SEQUENCES",
        "EXECUTE ON ROUTINES",
    ]
    .map(|what| format!("ALTER DEFAULT PRIVILEGES GRANT {what} TO {role};"));

    let block = format!(
        "DECLARE schema text; BEGIN FOR schema IN SELECT nspname FROM pg_namespace \
         WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP {} {tables} END LOOP; END",
        each.join(" ")
    );

    // A string literal instead of dollar quotes, because the role's name may contain their tag.
    format!("DO {}; {}", literal(&block), later.join(" "))
}
