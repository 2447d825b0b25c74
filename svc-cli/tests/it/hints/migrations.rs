//! Files of `db/` that cannot run, and what they have left.

use super::{Case, follow_with_database};

#[test]
fn invalid_files_have_hints() {
    follow_with_database(&[
        Case {
            seed: "mkdir -p db/migrations; echo 'SELECT 1' > db/migrations/add.sql",
            fails: "svc migrate up",
            hint: "hint: name it like ",
            follow: "mv db/migrations/add.sql db/migrations/${HINT%%;*}",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; cd db/migrations; echo 'SELECT 1' | tee 1_a.sql > 1_b.sql",
            fails: "svc migrate up",
            hint: "hint: rename the one that no database has run yet",
            follow: "mv db/migrations/1_b.sql db/migrations/2_b.sql",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; echo 'SELECT 1; COMMIT;' > db/migrations/1.sql",
            fails: "svc migrate up",
            hint: "hint: remove it: svc runs the file in a transaction",
            follow: "sed -i 's/COMMIT;//' db/migrations/1.sql",
            next: "",
        },
        Case {
            seed: "admin 'CREATE TABLE a (x int)'; mkdir -p db/migrations; \
                echo 'CREATE INDEX CONCURRENTLY ON a (x);' > db/migrations/1.sql",
            fails: "svc migrate up",
            hint: "hint: move it into a separate migration whose first line is ",
            follow: "sed -i \"1i $HINT\" db/migrations/1.sql",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; printf 'SELECT 1 -- f\\374r' > db/migrations/1.sql",
            fails: "svc migrate up",
            hint: "hint: save it as ",
            follow: "iconv -f latin1 -t $HINT db/migrations/1.sql > a && mv a db/migrations/1.sql",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; echo 'CREATE TABLE a (x nope)' > db/migrations/1.sql",
            fails: "svc migrate up",
            hint: "hint: this file changed nothing; fix it and run ",
            follow: "sed -i s/nope/int/ db/migrations/1.sql; ${HINT% again}",
            next: "the database is up to date",
        },
    ]);
}

#[test]
fn rejected_files_have_hints() {
    follow_with_database(&[
        Case {
            seed: "admin 'CREATE TABLE a (x int)'; mkdir -p db/schema; echo 'CREATE TABLE a (x int)' > db/schema/1.sql",
            fails: "svc migrate up",
            hint: "hint: if the database already has the objects of the pending files, record them without running them: ",
            follow: "$HINT --confirm $DB",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; echo 'CREATE TABLE a (x int)' > db/migrations/0.sql; svc migrate up; \
                echo 'ALTER TABLE a DROP COLUMN x;' > db/migrations/1.sql",
            fails: "svc migrate check --strict",
            hint: "hint: change the files as suggested, or accept a rule in the file: ",
            follow: "sed -i \"1i ${HINT/RULE/ban-drop-column}\" db/migrations/1.sql",
            next: "",
        },
        Case {
            seed: "mkdir -p db/seeds; echo 'INSERT INTO a VALUES (1)' > db/seeds/1.sql; \
                admin 'CREATE TABLE a (x int UNIQUE); INSERT INTO a VALUES (1)'",
            fails: "svc db seed",
            hint: "hint: the row already exists; with ",
            follow: "echo ${HINT%, the file can run again} >> db/seeds/1.sql",
            next: "",
        },
        Case {
            seed: "mkdir -p db/seeds; echo 'SELECT nope' > db/seeds/1.sql",
            fails: "svc db seed",
            hint: "hint: this file changed nothing; fix it and run ",
            follow: "echo 'SELECT 1' > db/seeds/1.sql; ${HINT% again}",
            next: "",
        },
    ]);
}

/// A migration that has run and has changed since, and one without a transaction that has failed
/// half-way.
const CHANGED: &str = "mkdir -p db/migrations; echo 'CREATE TABLE a (x int)' > db/migrations/1.sql; svc migrate up; \
    cp db/migrations/1.sql old; echo 'CREATE TABLE a (x int, y int)' > db/migrations/1.sql";
const HALF: &str = "admin 'CREATE TABLE a (x int); INSERT INTO a VALUES (1), (1)'; mkdir -p db/migrations; \
    printf -- '-- svc: no transaction\\nCREATE UNIQUE INDEX CONCURRENTLY i ON a (x);\\n' > db/migrations/1.sql; \
    svc migrate up; true";

#[test]
fn changed_files_have_hints() {
    follow_with_database(&[
        Case {
            seed: CHANGED,
            fails: "svc migrate up",
            hint: "hint: undo the change and put it into a new migration: ",
            follow: "mv old db/migrations/1.sql; echo 'ALTER TABLE a ADD y int' > $(${HINT/NAME/add_y})",
            next: "",
        },
        Case {
            seed: CHANGED,
            fails: "svc migrate up",
            hint: "hint: if the database already matches the file: ",
            follow: "admin 'ALTER TABLE a ADD y int'; $HINT",
            next: "",
        },
        Case {
            seed: HALF,
            fails: "svc migrate up",
            hint: "hint: then run it again: ",
            follow: "admin 'DROP INDEX i'; admin 'TRUNCATE a'; ${HINT%,*} && ${HINT#*, }",
            next: "",
        },
        Case {
            seed: HALF,
            fails: "svc migrate up",
            hint: "hint: inspect the partial result, such as an invalid index, and drop it",
            follow: "admin 'DROP INDEX i'; admin 'TRUNCATE a'; svc migrate repair",
            next: "",
        },
        Case {
            seed: "mkdir -p db/migrations; printf -- '-- svc: no transaction\\nSELECT 1;\\nSELECT 1/0;' > db/migrations/1.sql",
            fails: "svc migrate up",
            hint: "hint: the changes of the statements before it remain; fix it, then run ",
            follow: "sed -i s,1/0,1, db/migrations/1.sql; $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc migrate baseline $(options)",
            hint: "hint: to confirm, pass ",
            follow: "retry $HINT",
            next: "",
        },
    ]);
}

const SQLX: &str = "admin 'CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY, success boolean NOT NULL, \
    checksum bytea NOT NULL, installed_on timestamptz NOT NULL DEFAULT now())'; mkdir -p db/migrations; ";

#[test]
fn sqlx_history_errors_have_hints() {
    let with = |more: &str| -> &'static str { Box::leak(format!("{SQLX}{more}").into_boxed_str()) };
    let import = "svc migrate baseline --from-sqlx --confirm $DB";
    follow_with_database(&[
        Case {
            seed: "mkdir -p db/migrations; echo 'SELECT 1' > db/migrations/1.sql",
            fails: "svc migrate baseline $(options --from-sqlx) --confirm $DB",
            hint: "hint: without sqlx's history, ",
            follow: "retry ''; eval \"${HINT% records all files} --confirm $DB\"",
            next: "",
        },
        Case {
            seed: with(
                "admin \"INSERT INTO _sqlx_migrations VALUES (1, true, sha384('SELECT 1'))\"",
            ),
            fails: import,
            hint: "hint: move sqlx's files to ",
            follow: "printf 'SELECT 1' > ${HINT%% *}/1_a.sql",
            next: "",
        },
        Case {
            seed: with(
                "printf 'SELECT 2' > db/migrations/1.sql; \
                admin \"INSERT INTO _sqlx_migrations VALUES (1, true, sha384('SELECT 1'))\"",
            ),
            fails: import,
            hint: "hint: restore the file",
            follow: "printf 'SELECT 1' > db/migrations/1.sql",
            next: "",
        },
        Case {
            seed: with(
                "printf 'SELECT 1' > db/migrations/1.sql; \
                admin \"INSERT INTO _sqlx_migrations VALUES (1, false, sha384('SELECT 1'))\"",
            ),
            fails: import,
            hint: "hint: inspect the partial result, fix it, and set ",
            follow: "admin 'UPDATE _sqlx_migrations SET success = true'",
            next: "",
        },
    ]);
}
