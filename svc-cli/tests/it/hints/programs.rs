//! Programs that are missing, do not compile, or do not agree with the database.

use super::{Case, follow, follow_with_database};

/// A program that needs no crates, with a type over a view.
const PROGRAM: &str = concat!(
    "mkdir -p src/bin tests db/migrations; cat > program.rs << 'END'\n",
    include_str!("program.rs.txt"),
    "END\ncp program.rs src/main.rs; echo '{\"format\": 3, \"svc\": \"1.0.0\", \"sdl\": \"type Query { a: Int }\", \
     \"counts\": {\"types\": 1, \"inputs\": 0, \"schema\": 2}, \"column_types\": [\"int4\", \"text\"], \"functions\": [], \"statements\": [], \"writes\": [], \"types\": [{ \
     \"name\": \"User\", \"path\": \"shop::User\", \"place\": {\"file\": \"src/main.rs\", \"line\": 1}, \
     \"source\": \"v_user\", \"fields\": [{\"name\": \"id\", \"rust\": \"id\", \"line\": 1, \"non_null\": true, \
     \"type\": \"Int!\", \"stored\": \"id\", \"columns\": [\"int4\"], \"relation\": null}, {\"name\": \"name\", \
     \"rust\": \"name\", \"line\": 1, \"non_null\": true, \"type\": \"String!\", \"stored\": \"name\", \
     \"columns\": [\"text\"], \"relation\": null}]}]}' > description.json\n"
);

/// The program, and then more.
fn with(more: &str) -> &'static str {
    Box::leak(format!("{PROGRAM}{more}").into_boxed_str())
}

#[test]
fn a_missing_baseline_has_a_hint() {
    follow(&[Case {
        seed: with(""),
        fails: "svc check --operations-baseline costs.json",
        hint: "hint: write it: ",
        follow: "$HINT --operations-baseline costs.json",
        next: "",
    }]);
}

#[test]
fn build_errors_have_hints() {
    follow(&[
        Case {
            seed: "",
            fails: "svc check",
            hint: "hint: create it: ",
            follow: "$HINT",
            next: "src/main.rs does not exist",
        },
        Case {
            seed: with("rm src/main.rs"),
            fails: "svc check",
            hint: "hint: it contains the program's main function",
            follow: "cp program.rs src/main.rs",
            next: "",
        },
        Case {
            seed: with("echo 'fn main() { nope }' > src/main.rs"),
            fails: "svc check",
            hint: "hint: see the compiler's messages above",
            follow: "cp program.rs src/main.rs",
            next: "",
        },
        Case {
            seed: with("printf '[dependencies]\\nsvc.path = \"nope\"\\n' >> Cargo.toml"),
            fails: "svc check",
            hint: "hint: in Cargo.toml, name a checkout of svc, ",
            follow: "mkdir -p checkout/src; touch checkout/src/lib.rs; sed -i s/nope/checkout/ Cargo.toml; \
                printf '[package]\\nname = \"svc\"\\nversion = \"1.0.0\"\\nedition = \"2024\"\\n' > checkout/Cargo.toml",
            next: "",
        },
        Case {
            seed: with("mv src/main.rs src/lib.rs"),
            fails: "svc generate schema",
            hint: "hint: a program starts in ",
            follow: "cp program.rs $HINT",
            next: "",
        },
        Case {
            seed: with("cp program.rs src/bin/server.rs"),
            fails: "svc check $(options)",
            hint: "hint: choose one: ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: with(""),
            fails: "env -u CARGO PATH=$(options $PROGRAMS) svc check",
            hint: "hint: install Rust: ",
            follow: "retry $PATH",
            next: "",
        },
    ]);
}

#[test]
fn description_errors_have_hints() {
    follow(&[
        Case {
            seed: with("echo 'fn main() {}' > src/main.rs"),
            fails: "svc check",
            hint: "hint: its main function must create the app: ",
            follow: "cp program.rs src/main.rs",
            next: "",
        },
        Case {
            seed: with(
                "sed -i 's/: 3, \"svc\": \"1.0.0\"/: 99, \"svc\": \"9.9.9\"/' description.json",
            ),
            fails: "svc check",
            hint: "hint: install the tool in the program's version: ",
            // That version is not published; the program that this tool understands is of its own.
            follow: "test \"$HINT\" = 'cargo install svc-cli --version 9.9.9' && sed -i s/99/3/ description.json",
            next: "",
        },
        Case {
            seed: with(
                "sed -i 's/: 3, \"svc\": \"1.0.0\"/: 99, \"svc\": \"9.9.9\"/' description.json",
            ),
            fails: "svc check",
            hint: "hint: or use the tool's version in Cargo.toml: svc = ",
            follow: "test \"svc $HINT\" = \"$(svc --version | sed 's/ / \"=/;s/$/\"/')\" && sed -i s/99/3/ description.json",
            next: "",
        },
    ]);
}

/// Two versions of a crate named axum, and one named svc that has the newer, as the compiler sees
/// them.
const TWO_VERSIONS: &str = r#"
for version in 7 8; do
    mkdir -p axum-$version/src; echo 'pub struct Router;' > axum-$version/src/lib.rs
    printf '[package]\nname = "axum"\nversion = "0.%s.0"\nedition = "2024"\n' $version > axum-$version/Cargo.toml
done
mkdir -p svc/src; echo 'pub use axum; pub fn serve(_: axum::Router) {}' > svc/src/lib.rs
printf '[package]\nname = "svc"\nversion = "1.0.0"\nedition = "2024"\n[dependencies]\naxum.path = "../axum-8"\n' > svc/Cargo.toml
printf '[dependencies]\nsvc.path = "svc"\naxum.path = "axum-7"\n' >> Cargo.toml
echo 'fn main() { svc::serve(axum::Router) }' > src/main.rs
"#;

#[test]
fn duplicate_crate_versions_have_hints() {
    follow(&[Case {
        seed: with(TWO_VERSIONS),
        fails: "svc check",
        hint: "hint: use the version that svc has: write ",
        follow: "sed -i s/axum::Router/${HINT%%,*}::Router/ src/main.rs; sed -i /axum-7/d ${HINT##* }",
        next: "no app was created",
    }]);
}

#[test]
fn exiting_programs_have_hints() {
    follow(&[
        Case {
            seed: with("echo 'fn main() { panic!(\"the port is a lie\") }' > src/main.rs"),
            fails: "svc dev --no-reload --port 0",
            hint: "hint: see the program's output above",
            follow: "cp program.rs src/main.rs",
            next: "the program has exited: exit status: 0",
        },
        Case {
            seed: with(""),
            fails: "test -e done && exit 0; rm -f log; svc dev --port 0 2> log & dev=$!; until test -e log; do sleep 0.1; done; \
                until grep -q hint: log; do sleep 0.1; done; cat log >&2; kill -INT $dev; wait $dev; exit 1",
            hint: "hint: it restarts when a file changes",
            follow: "rm -f log; svc dev --port 0 2> log & dev=$!; until test -e log; do sleep 0.1; done; until grep -q hint: log; do sleep 0.1; done; \
                echo >> src/main.rs; until [ $(grep -c hint: log) = 2 ]; do sleep 0.1; done; kill -INT $dev; touch done",
            next: "",
        },
    ]);
}

const NEW_USER: &str = "mkdir -p db/schema; echo \"CREATE OR REPLACE VIEW v_user AS SELECT 1 AS id, 'Ada'::text AS name\" \
    > db/schema/1.sql; ";

#[test]
fn check_errors_have_hints() {
    let with_view = |more: &str| with(&format!("{NEW_USER}{more}"));
    follow_with_database(&[
        Case {
            seed: with_view("svc migrate up"),
            fails: "svc check --offline",
            hint: "hint: write it where the database is available: ",
            follow: "$HINT",
            next: "",
        },
        Case {
            seed: with_view("svc migrate up; echo '{' > svc.schema.json"),
            fails: "svc check --offline",
            hint: "hint: write it where the database is available: ",
            follow: "$HINT",
            next: "",
        },
        Case {
            seed: with_view("admin 'CREATE TABLE other (x int)'"),
            fails: "svc check",
            hint: "hint: change the type, or the view in db/schema, and apply it: ",
            follow: "$HINT",
            next: "",
        },
        Case {
            seed: with_view("svc check --update; svc migrate up"),
            fails: "svc check --offline",
            hint: "hint: if the database has changed, update the description: ",
            follow: "$HINT",
            next: "",
        },
    ]);
}

#[test]
fn crud_errors_have_hints() {
    let with_list = |more: &str| {
        with(&format!(
            "svc init a --no-git; mkdir src/mutations; cp a/src/mutations/mod.rs src/mutations; rm -r a; {more}"
        ))
    };
    follow(&[
        Case {
            seed: with_list(""),
            fails: "svc generate crud $(options Usr)",
            hint: "hint: it has ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: with_list(""),
            fails: "svc generate crud User --table $(options 'a\"b')",
            hint: "hint: name it: --table ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: with(""),
            fails: "svc generate crud User",
            hint: "hint: svc init creates it in new projects",
            follow: "svc init a --no-git; mkdir src/mutations; cp a/src/mutations/mod.rs src/mutations",
            next: "",
        },
        Case {
            seed: with_list("sed -i 's/\"id\"/\"pk\"/g' description.json"),
            fails: "svc generate crud User",
            hint: "hint: the mutations find rows by it",
            follow: "sed -i 's/\"pk\"/\"id\"/g' description.json",
            next: "",
        },
        Case {
            seed: with_list("svc generate crud User"),
            fails: "svc generate crud User",
            hint: "hint: move the existing file out of the way",
            follow: "mv src/mutations/user_mutations.rs old.rs",
            next: "",
        },
        Case {
            seed: with(""),
            fails: "svc sql generate-view $(options Usr)",
            hint: "hint: it has shop::",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: with("echo 'type Query { a: Nope }' > schema.graphql"),
            fails: "svc schema diff schema.graphql schema.graphql",
            hint: "hint: write a schema file: ",
            follow: "$HINT",
            next: "",
        },
    ]);
}
