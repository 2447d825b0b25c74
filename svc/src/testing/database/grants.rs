//! The role that a tested service connects as.

use svc_core::Result;
use svc_postgres::ScriptConnection;

/// Whether the name is allowed for a role; it is inserted into SQL without escaping.
pub(super) fn is_role_name(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_lowercase() || letter == '_');

    // PostgreSQL cuts a name at 63 bytes (`NAMEDATALEN`), and would then not find the role.
    first
        && name.len() < 64
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Creates the role, unless it exists, and allows the owner to act as it.
pub(super) async fn make(server: &mut ScriptConnection, role: &str) -> Result<()> {
    if server
        .is(
            "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)",
            role,
        )
        .await?
    {
        return Ok(());
    }

    let made = server
        .run(&format!("CREATE ROLE \"{role}\" NOSUPERUSER NOBYPASSRLS"))
        .await;

    // 42710 and 23505: another process has created it concurrently.
    let is_there = |code: &str| ["42710", "23505"].contains(&code);
    match made {
        Err(error) if !error.code().is_some_and(|code| is_there(code.code())) => {
            return Err(error.into());
        }
        _ => {}
    }

    // A superuser may act as any role. `is` binds one parameter, so the statement must contain
    // `$1`.
    let member = "SELECT NOT rolsuper FROM pg_roles WHERE rolname = current_user AND $1 <> ''";
    if server.is(member, role).await? {
        server
            .run(&format!("GRANT \"{role}\" TO CURRENT_USER"))
            .await?;
    }

    Ok(())
}

/// Returns the statement that grants the role the use of all objects, existing or created by the
/// owner later, unless the setup has granted it any privilege: then these remain its only
/// privileges.
pub(super) fn grants(role: &str) -> String {
    // `pg_shdepend` has a row of the type `a` for each object whose privileges name the role.
    format!(
        "DO $svc$
        DECLARE name text;
        BEGIN
            IF EXISTS (
                SELECT FROM pg_shdepend AS d JOIN pg_database AS b ON b.oid = d.dbid AND b.datname = current_database()
                WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = '\"{role}\"'::regrole AND d.deptype = 'a'
            ) THEN
                RETURN;
            END IF;
            FOR name IN
                SELECT nspname FROM pg_namespace
                WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
            LOOP
                EXECUTE format(
                    'GRANT USAGE ON SCHEMA %1$I TO \"{role}\";
                    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %1$I TO \"{role}\";
                    GRANT EXECUTE ON ALL ROUTINES IN SCHEMA %1$I TO \"{role}\"', name);
                -- The functions of these schemas are enough, and the role must not read password hashes.
                IF name NOT IN ('svc_auth', 'svc_errors') THEN
                    EXECUTE format(
                        'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %1$I TO \"{role}\"', name);
                END IF;
            END LOOP;
            ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO \"{role}\";
            ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO \"{role}\";
            ALTER DEFAULT PRIVILEGES GRANT USAGE, SELECT ON SEQUENCES TO \"{role}\";
            ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON ROUTINES TO \"{role}\";
        END $svc$"
    )
}

#[cfg(test)]
mod tests {
    use super::is_role_name;

    #[test]
    fn names_of_roles_need_no_quotes() {
        assert!(is_role_name("app") && is_role_name("_shop_2"));
        for name in ["", "App", "2app", "a b", "a\"b", "a'b", "ä"] {
            assert!(!is_role_name(name), "{name}");
        }
    }
}
