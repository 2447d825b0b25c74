//! Checks the database for production.

use tokio_postgres::Client;
use tokio_postgres::config::SslMode;

use super::finding::Finding;
use crate::database::{Target, reason, shown};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The default pool size of a service.
const POOL_SIZE: i64 = 8;

/// The oldest PostgreSQL version tested.
const OLDEST: i32 = 15;

/// Foreign keys without an index, whose rows are looked up by reading the whole table.
const MISSING_INDEXES: &str = "\
    SELECT c.conrelid::regclass::text, a.attname::text \
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
    JOIN pg_class t ON t.oid = c.conrelid \
    WHERE c.contype = 'f' AND c.conparentid = 0 AND NOT EXISTS ( \
        SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1] \
            AND i.indpred IS NULL AND i.indisvalid) \
    ORDER BY 1, 2";

const INVALID_INDEXES: &str = "SELECT indexrelid::regclass::text, indrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1";

/// Tables whose rows are visible only to the owner: row-level security without a policy.
const CLOSED: &str = "\
    SELECT oid::regclass::text FROM pg_class c \
    WHERE relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) ORDER BY 1";

/// Looks at the database behind an open connection.
pub(super) async fn look(
    project: &Project,
    target: &Target,
    client: &Client,
) -> Result<Vec<Finding>> {
    let mut findings = vec![
        version(target, client).await?,
        tls(target),
        pool(project, client).await?,
    ];

    findings.push(role(client).await?);
    findings.extend(closed(client).await?);
    findings.extend(indexes(client).await?);

    Ok(findings)
}

fn failed(error: &tokio_postgres::Error) -> Failure {
    Failure::new(format!("the database reported an error: {}", reason(error)))
}

async fn version(target: &Target, client: &Client) -> Result<Finding> {
    let text = "SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000, \
        current_setting('server_encoding')";
    let row = client
        .query_one(text, &[])
        .await
        .map_err(|error| failed(&error))?;
    let (version, major, encoding): (String, i32, String) = (row.get(0), row.get(1), row.get(2));
    let place = format!("{}: PostgreSQL {version}", shown(target.config()));

    Ok(if major < OLDEST {
        Finding::warning(
            "database",
            place,
            format!("svc is tested with PostgreSQL {OLDEST} and newer; upgrade it"),
        )
    } else if encoding != "UTF8" {
        Finding::problem(
            "database",
            format!("{place}, in {encoding}"),
            "create the database again with ENCODING 'UTF8'",
        )
    } else {
        Finding::ok("database", place)
    })
}

fn tls(target: &Target) -> Finding {
    match (target.is_local(), target.config().get_ssl_mode()) {
        (true, _) => Finding::ok("tls", "the database is on this machine"),
        (false, SslMode::Require) => Finding::ok(
            "tls",
            "the connection is encrypted, and the server verified",
        ),
        (false, _) => Finding::problem(
            "tls",
            "the connection to the database may be unencrypted",
            "add ?sslmode=verify-full to the database URL, and sslrootcert=FILE for a private certificate authority",
        ),
    }
}

async fn pool(project: &Project, client: &Client) -> Result<Finding> {
    // PostgreSQL keeps the last connections for superusers.
    let text = "SELECT current_setting('max_connections')::bigint \
        - current_setting('superuser_reserved_connections')::bigint, \
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())";
    let row = client
        .query_one(text, &[])
        .await
        .map_err(|error| failed(&error))?;
    let (most, used): (i64, i64) = (row.get(0), row.get(1));
    let given = project
        .setting("SVC_DATABASE_POOL_SIZE")
        .and_then(|size| size.trim().parse().ok());
    let size: i64 = given.unwrap_or(POOL_SIZE);
    let said = format!(
        "pools of {size} connections; the server allows {most}, of which {used} are in use"
    );

    Ok(if size > most {
        let fix = format!("set SVC_DATABASE_POOL_SIZE below {most}, or raise max_connections");
        Finding::problem("connections", said, fix)
    } else if size.saturating_mul(2) > most {
        let fix = "during a deployment, two services run: leave room for both";
        Finding::warning("connections", said, fix)
    } else {
        Finding::ok("connections", said)
    })
}

async fn role(client: &Client) -> Result<Finding> {
    let text = "SELECT current_user::text, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user";
    let row = client
        .query_one(text, &[])
        .await
        .map_err(|error| failed(&error))?;
    let (name, is_super, bypasses): (String, bool, bool) = (row.get(0), row.get(1), row.get(2));
    Ok(if is_super || bypasses {
        let why = if is_super {
            "is a superuser"
        } else {
            "bypasses row-level security"
        };

        Finding::warning(
            "role",
            format!("the user `{name}` {why}, so policies do not apply to it"),
            "connect the service as a role that owns nothing and may only read views and call functions",
        )
    } else {
        Finding::ok("role", format!("the user `{name}` is not a superuser"))
    })
}

async fn closed(client: &Client) -> Result<Vec<Finding>> {
    let rows = client
        .query(CLOSED, &[])
        .await
        .map_err(|error| failed(&error))?;
    let finding = |table: String| {
        let fix = format!(
            "CREATE POLICY … ON {table} USING (…), or ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
        );
        let what = format!(
            "{table} has row-level security but no policy, so only its owner sees its rows"
        );
        Finding::warning("policies", what, fix)
    };

    Ok(rows.iter().map(|row| finding(row.get(0))).collect())
}

async fn indexes(client: &Client) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for row in client
        .query(MISSING_INDEXES, &[])
        .await
        .map_err(|error| failed(&error))?
    {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let quoted = format!("\"{}\"", column.replace('"', "\"\""));
        findings.push(Finding::warning(
            "indexes",
            format!("a relation by {table}.{column} reads the whole table for each row"),
            format!("create it in a migration without a transaction: CREATE INDEX CONCURRENTLY ON {table} ({quoted})"),
        ));
    }

    for row in client
        .query(INVALID_INDEXES, &[])
        .await
        .map_err(|error| failed(&error))?
    {
        let (index, table): (String, String) = (row.get(0), row.get(1));
        findings.push(Finding::problem(
            "indexes",
            format!("{index} of {table} is invalid: its creation was interrupted"),
            format!("DROP INDEX CONCURRENTLY {index}, and create it again"),
        ));
    }

    if findings.is_empty() {
        findings.push(Finding::ok("indexes", "every foreign key has one"));
    }

    Ok(findings)
}
