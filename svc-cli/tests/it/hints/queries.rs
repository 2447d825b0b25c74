//! Written SQL, types of tables that exist, and schemas compared.

use super::{Case, follow, follow_with_database};

#[test]
fn written_sql_errors_have_hints() {
    follow(&[
        Case {
            seed: "",
            fails: "svc sql generate-pattern filtering v_user $(options)",
            hint: "hint: write it as ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc sql generate-pattern filtering v_user --where $(options role)",
            hint: "hint: write it as ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc sql generate-pattern sorting v_user $(options)",
            hint: "hint: write it as ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc sql generate-pattern sorting v_user --order name:$(options up)",
            hint: "hint: use asc or ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc sql generate-pattern pagination \"$(options '')\"",
            hint: "hint: a name has 1 to 63 bytes",
            follow: "retry v_user",
            next: "",
        },
    ]);
}

#[test]
fn view_and_type_errors_have_hints() {
    follow_with_database(&[
        Case {
            seed: "echo 'CREATE VIEW v_a AS SELECT 1 AS id, to_jsonb(1) AS data; COMMIT;' > v.sql",
            fails: "svc sql validate v.sql",
            hint: "hint: remove it",
            follow: "sed -i 's/COMMIT;//' v.sql",
            next: "",
        },
        Case {
            seed: "admin 'CREATE SCHEMA app CREATE TABLE v_post (id int)'",
            fails: "svc generate types --from-view $(options v_post) --output -",
            hint: "hint: include its schema if it is not `public`: ",
            follow: "retry ${HINT%%;*}",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc generate types --all --output -",
            hint: "hint: svc migrate up creates those of db/",
            follow: "mkdir -p db/schema; echo 'CREATE TABLE a (x int)' > db/schema/1.sql; svc migrate up",
            next: "",
        },
        Case {
            seed: "admin 'CREATE TABLE a (x int)'; echo mine > mine.rs",
            fails: "mkdir -p src; svc generate types --all $(options --output mine.rs)",
            hint: "hint: move the existing file out of the way, or name another: ",
            follow: "retry $HINT",
            next: "",
        },
    ]);
}

#[test]
fn schema_comparison_errors_have_hints() {
    follow(&[
        Case {
            seed: "echo 'type Query { a: Int }' > new.graphql; cp new.graphql old.graphql",
            fails: "svc schema diff $(options nope) new.graphql",
            hint: "hint: a schema is a file, a URL, or REVISION:PATH such as main:schema.graphql",
            follow: "retry old.graphql",
            next: "",
        },
        Case {
            seed: "git init -qb main; echo 'type Query { a: Int }' > schema.graphql",
            fails: "svc schema diff main schema.graphql",
            hint: "or REVISION:PATH such as ",
            follow: "git add . && git -c user.name=a -c user.email=a@example.org commit -qm 'The schema'",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int b: Int }' > a; echo 'type Query { a: Int }' > b",
            fails: "svc schema diff a b $(options)",
            hint: "and add new ones beside them, or accept the changes: ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int b: Int }' > a; echo 'type Query { a: Int }' > b",
            fails: "svc schema diff a b",
            hint: "hint: deprecate the old parts",
            follow: "echo 'type Query { a: Int b: Int @deprecated }' > b",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int }' > a; echo '[]' > operations",
            fails: "svc schema diff a a --operations operations",
            hint: "hint: it is JSON: {\"operations\": [{\"id\": …, \"name\": …, \"body\": …}]}, or ",
            follow: "echo \"$HINT\" | sed 's/TEXT/{ a }/' > operations",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int }' > a; mkdir operations",
            fails: "svc schema diff a a --operations operations",
            hint: "hint: a folder has .graphql or .gql files",
            follow: "echo '{ a }' > operations/a.graphql",
            next: "",
        },
        Case {
            seed: "echo 'type Query { a: Int }' > a; echo ' Authorization Bearer' > header",
            fails: "svc schema diff http://127.0.0.1:1/graphql a --header \"$(cat header)\"",
            hint: "hint: write it as --header ",
            follow: "eval echo $HINT > header",
            next: "http://127.0.0.1:1/graphql does not respond",
        },
    ]);
}
