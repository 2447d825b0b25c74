//! Projects, their folders and their settings.

use super::{Case, follow, follow_with_database};

#[test]
fn project_errors_have_hints() {
    follow(&[
        Case {
            seed: "rm Cargo.toml",
            fails: "cd shop 2> /dev/null; svc migrate new add_stock",
            hint: "hint: go to the project's folder, or create a project: ",
            follow: "${HINT/NAME/shop} --no-git",
            next: "",
        },
        Case {
            seed: "mkdir shop; touch shop/notes.txt",
            fails: "svc init shop --no-git",
            hint: "hint: choose another name, or remove it first",
            follow: "rm -r shop",
            next: "",
        },
        Case {
            seed: "touch shop",
            fails: "svc init $(options shop) --no-git",
            hint: "hint: choose another name",
            follow: "retry store",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc init \"$(options 'my shop')\" --no-git",
            hint: "hint: a name starts with a letter, followed by letters, digits, `-`, `_` and `.`: svc init ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc init $(options fn) --no-git",
            hint: "digits, `-`, `_` and `.`: svc init ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc init shop --no-git --database-url $(options mysql://me@localhost/shop)",
            hint: "hint: write it as ",
            follow: "retry $HINT",
            next: "",
        },
    ]);
}

#[test]
fn setting_errors_have_hints() {
    follow_with_database(&[
        Case {
            seed: "rm .env",
            fails: "svc migrate status",
            hint: "hint: set SVC_DATABASE_URL in .env: postgresql:",
            follow: "url $URL",
            next: "",
        },
        Case {
            seed: "echo \"NAME=a 'b\" >> .env",
            fails: "svc migrate status",
            hint: "quote values with spaces or `#`: ",
            follow: "url $URL; echo $HINT >> .env",
            next: "",
        },
        Case {
            seed: "url $URL?sslmode=always",
            fails: "svc migrate status",
            hint: "error: the database URL is not valid: sslmode is disable, ",
            follow: "url $URL?sslmode=${HINT%%,*}",
            next: "",
        },
    ]);
}

#[test]
fn address_errors_have_hints() {
    follow(&[
        Case {
            seed: "",
            fails: "svc dev --no-reload --port $(options $TAKEN)",
            hint: "hint: choose another port: svc dev --port ",
            follow: "retry $HINT",
            next: "cargo cannot build the program",
        },
        Case {
            seed: "echo SVC_PORT=eighty > .env",
            fails: "svc dev --no-reload",
            hint: "hint: set a number from 1 to 65535 in .env: ",
            follow: "test $HINT = SVC_PORT=8000; echo SVC_PORT=$FREE > .env",
            next: "cargo cannot build the program",
        },
        Case {
            seed: "",
            fails: "svc dev --no-reload --port 0 $(options --host 192.0.2.1)",
            hint: "hint: name an address of this machine, or 0.0.0.0 for all of them: svc dev ",
            follow: "retry $HINT",
            next: "cargo cannot build the program",
        },
    ]);
}

#[test]
fn name_errors_have_hints() {
    follow(&[
        Case {
            seed: "",
            fails: "svc migrate new \"$(options '!')\"",
            hint: "hint: describe the change in a few words: svc migrate new ",
            follow: "retry $HINT",
            next: "",
        },
        Case {
            seed: "",
            fails: "svc generate migration \"$(options 'pro\"duct')\"",
            hint: " lower-case letters, digits and `_`: svc generate migration ",
            follow: "retry $HINT",
            next: "",
        },
    ]);
}
