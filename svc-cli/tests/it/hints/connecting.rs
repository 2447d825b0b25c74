//! Databases that cannot be reached, and users that they do not let in.

use super::{Case, follow_with_database};

/// A user of its own for the database, which needs its password.
const USER: &str = "admin \"CREATE ROLE u_$DB LOGIN PASSWORD 'p#%?@/' IN ROLE needs_password\"; ";

#[test]
fn password_errors_have_hints() {
    let with =
        |url: &str| -> &'static str { Box::leak(format!("{USER}url {url}").into_boxed_str()) };
    let right = "url \"postgresql://u_$DB:p%23%25%3F%40%2F@$HOST/$DB\"";
    follow_with_database(&[
        Case {
            seed: with("postgresql://u_$DB:wrong@$HOST/$DB"),
            fails: "svc migrate status",
            hint: "hint: correct user and password in SVC_DATABASE_URL; in a password write `%40` for @",
            follow: right,
            next: "",
        },
        Case {
            seed: with("'postgresql://u_'$DB':p#%?@/@'$HOST/$DB"),
            fails: "svc migrate status",
            hint: "in a password write `%40` for @, `%23` for #, `%3F` for ?, `%25` for %, `%2F` for /",
            follow: right,
            next: "",
        },
        Case {
            seed: with("postgresql://u_$DB@$HOST/$DB"),
            fails: "svc migrate status",
            hint: "hint: write the password into SVC_DATABASE_URL: ",
            follow: right,
            next: "",
        },
        Case {
            seed: "url postgresql://nobody:x@$HOST/$DB",
            fails: "svc migrate status",
            hint: "hint: correct user and password in ",
            follow: "url $URL",
            next: "",
        },
    ]);
}

#[test]
fn permission_errors_have_hints() {
    follow_with_database(&[
        Case {
            seed: "admin \"CREATE ROLE u_$DB LOGIN CONNECTION LIMIT 0\"; url postgresql://u_$DB@$HOST/$DB",
            fails: "svc migrate status",
            hint: "hint: close connections, or allow more: max_connections, ",
            follow: "admin \"${HINT/…/u_$DB} 5\"",
            next: "",
        },
        Case {
            seed: "admin \"CREATE ROLE u_$DB LOGIN\"; admin \"REVOKE CONNECT ON DATABASE $DB FROM public\"; \
                url postgresql://u_$DB@$HOST/$DB",
            fails: "svc migrate status",
            hint: "hint: give the user access: ",
            follow: "admin \"$HINT\"",
            next: "",
        },
        Case {
            seed: "admin \"CREATE ROLE u_$DB LOGIN\"; url postgresql://u_$DB@$HOST/$DB",
            fails: "svc migrate up",
            hint: "hint: give the user in SVC_DATABASE_URL the privilege, or run the command as the owner of the database",
            follow: "admin \"ALTER DATABASE $DB OWNER TO u_$DB\"",
            next: "",
        },
        Case {
            seed: "admin \"CREATE ROLE u_$DB LOGIN\"; admin 'CREATE TABLE a (x int)'; svc migrate up; \
                admin \"GRANT USAGE ON SCHEMA svc_history TO u_$DB; GRANT ALL ON svc_history.migrations TO u_$DB\"; \
                mkdir -p db/migrations; echo 'ALTER TABLE a ADD y int' > db/migrations/1.sql; \
                url postgresql://u_$DB@$HOST/$DB",
            fails: "svc migrate up",
            hint: "hint: give the user in SVC_DATABASE_URL the privilege, or run the command as the owner of the database",
            follow: "url $URL",
            next: "",
        },
        Case {
            seed: "admin \"CREATE ROLE u_$DB LOGIN\"; url postgresql://u_$DB@$HOST/${DB}_new",
            fails: "svc db start",
            hint: "hint: create it as a user with this privilege: ",
            follow: "PGUSER=postgres $HINT",
            next: "",
        },
    ]);
}

#[test]
fn database_address_errors_have_hints() {
    follow_with_database(&[
        Case {
            seed: "url ${URL}_new",
            fails: "svc migrate status",
            hint: "hint: create it: ",
            follow: "${HINT%%,*}",
            next: "",
        },
        Case {
            seed: "url ${URL}_newer",
            fails: "svc migrate status",
            hint: "hint: create it: svc db start, or ",
            follow: "PGUSER=postgres ${HINT% on that server}",
            next: "",
        },
        Case {
            seed: "url postgresql://postgres@localhost:$FREE/a",
            fails: "svc migrate status",
            hint: "hint: start it: svc db start; or correct ",
            follow: "url $URL",
            next: "",
        },
        Case {
            seed: "url postgresql://postgres@192.0.2.1.example.invalid/a",
            fails: "svc migrate status",
            hint: "hint: check that the server is running and accepts connections from this machine, or correct ",
            follow: "url $URL",
            next: "",
        },
        Case {
            seed: "url $URL?sslmode=require",
            fails: "svc migrate status",
            hint: "hint: the server has no certificate: remove `sslmode` from SVC_DATABASE_URL",
            follow: "url $URL",
            next: "",
        },
        Case {
            seed: "url $URL?sslrootcert=ca.pem",
            fails: "svc migrate status",
            hint: "hint: sslrootcert in SVC_DATABASE_URL names a file of PEM certificates",
            follow: "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -out ca.pem -keyout k",
            next: "",
        },
    ]);
}

#[test]
fn reset_errors_have_hints() {
    follow_with_database(&[
        Case {
            seed: "",
            fails: "svc db reset $(options)",
            hint: "hint: to confirm, pass ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc db reset $(options --confirm other)",
            hint: "hint: to confirm, pass ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "url postgresql://me@db.example.org/shop",
            fails: "svc db reset",
            hint: "hint: svc db reset works only with a database on this machine",
            follow: "url $URL",
            next: "and there is no terminal to confirm it",
        },
        Case {
            seed: "url postgresql://postgres@$HOST/postgres",
            fails: "svc db reset",
            hint: "hint: name a database of the project in SVC_DATABASE_URL",
            follow: "url $URL",
            next: "and there is no terminal to confirm it",
        },
    ]);
}
