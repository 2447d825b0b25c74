//! The project's own server, programs that are not installed, and findings of the doctor.

use super::{Case, follow_with_database};

const OWN: &str = "url postgresql://svc:svc@localhost:$FREE/shop";

#[test]
fn server_errors_have_hints() {
    let with =
        |more: &str| -> &'static str { Box::leak(format!("{OWN}; {more}").into_boxed_str()) };
    follow_with_database(&[
        Case {
            seed: OWN,
            fails: "svc db status",
            hint: "hint: start it: ",
            follow: "${HINT%%;*}",
            next: "",
        },
        Case {
            seed: with(
                "svc db start; kill -9 $(cut -d ' ' -f 1 .svc/db.lock); \
                 while (: < /dev/tcp/127.0.0.1/$(grep -oE '[0-9]+/' .env | tr -d /)) 2> /dev/null; do :; done",
            ),
            fails: "svc db status",
            hint: "hint: start it: ",
            follow: "${HINT%%;*}",
            next: "",
        },
        Case {
            seed: with("svc db start; sed -i s/svc:svc/ada:x/ .env"),
            fails: "svc db start",
            hint: "hint: restart it: ",
            follow: "${HINT%%,*} && ${HINT##*then } 2> /dev/null; true",
            next: "permission denied for schema svc_history",
        },
        Case {
            seed: "url postgresql://nobody:x@$HOST/$DB",
            fails: "svc db start",
            hint: "stop it, or choose another port for this project in ",
            follow: "sed -i \"s/@.*\\//@localhost:$FREE\\//\" ${HINT%% *}",
            next: "",
        },
        Case {
            seed: OWN,
            fails: "env $(options SVC_PG_BIN=/nowhere) svc db start",
            hint: "set it to the folder that holds `postgres` and `initdb`, or ",
            follow: "retry -u SVC_PG_BIN",
            next: "",
        },
        Case {
            seed: "mkdir .svc; (flock 9; exec sleep 600) 9> .svc/db.lock > /dev/null 2>&1 & echo $! > holder; \
                until ! flock -n .svc/db.lock true; do :; done",
            fails: "svc db stop",
            hint: "hint: try again: svc db stop",
            follow: "kill $(cat holder); until flock -n .svc/db.lock true; do :; done",
            next: "",
        },
    ]);
}

#[test]
fn missing_programs_have_hints() {
    follow_with_database(&[
        Case {
            seed: "",
            fails: "PATH=$(options $PROGRAMS) svc db psql -c ''",
            hint: "hint: install it: apt install ",
            follow: "retry $PATH",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int }' > a; git init -q",
            fails: "PATH=$(options $PROGRAMS) svc schema diff main a",
            hint: "hint: install ",
            follow: "retry $PATH",
            next: "main is neither a file nor a revision of git",
        },
    ]);
}

#[test]
fn findings_of_the_doctor_have_hints() {
    follow_with_database(&[
        Case {
            seed: "admin 'CREATE TABLE a (x int); ALTER TABLE a ENABLE ROW LEVEL SECURITY'",
            fails: "! svc doctor | grep -A1 'row-level security but no policy' >&2",
            hint: "fix: CREATE POLICY … ON a USING (…), or ",
            follow: "admin \"$HINT\"",
            next: "",
        },
        Case {
            seed: "admin 'CREATE TABLE a (x int); ALTER TABLE a ENABLE ROW LEVEL SECURITY'",
            fails: "! svc doctor | grep -A1 'row-level security but no policy' >&2",
            hint: "fix: ",
            follow: "HINT=${HINT%%,*}; HINT=${HINT/…/p}; admin \"${HINT/…/true}\"",
            next: "",
        },
        Case {
            seed: "admin 'CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (a_id int REFERENCES a)'",
            fails: "! svc doctor | grep -A1 'reads the whole table' >&2",
            hint: "fix: create it in a migration without a transaction: ",
            follow: "admin \"$HINT\"",
            next: "",
        },
        Case {
            seed: "admin 'CREATE TABLE a (x int); INSERT INTO a VALUES (1), (1)'; \
                admin 'CREATE UNIQUE INDEX CONCURRENTLY i ON a (x)'; true",
            fails: "! svc doctor | grep -A1 'is invalid' >&2",
            hint: "fix: ",
            follow: "admin \"${HINT%%,*}\"; admin 'CREATE INDEX CONCURRENTLY i ON a (x)'",
            next: "",
        },
        Case {
            seed: "echo SVC_AUTH_SECRET_KEY=short >> .env",
            fails: "! svc doctor | grep -A1 'SVC_AUTH_SECRET_KEY has fewer' >&2",
            hint: "fix: generate one: ",
            follow: "sed -i \"s/short/$($HINT)/\" .env",
            next: "",
        },
        Case {
            seed: "git init -q; git add .env",
            fails: "! svc doctor | grep -A1 '.env is in the git repository' >&2",
            hint: "fix: ",
            follow: "${HINT%%,*}",
            next: "",
        },
    ]);
}
