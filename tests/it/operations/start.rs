//! Operations from files, and what is said at the start.

use std::path::Path;

use serde_json::json;
use svc::{Operation, SvcConfig, create_svc_app};
use svc_tests::{Log, cluster};

use super::schema::{Runs, options, store_with};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Why a service with these operations does not start.
async fn refused(config: SvcConfig, operations: Vec<Operation>) -> String {
    let options = options(config, cluster().url(), &Runs::default()).operations(operations);
    create_svc_app(options)
        .await
        .map(drop)
        .unwrap_err()
        .to_string()
}

async fn refused_files(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            dir: Some(folder.path().to_owned()),
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    refused(config, Vec::new())
        .await
        .replace(&folder.path().display().to_string(), "operations")
}

#[tokio::test]
async fn files_are_operations() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            (
                "resolved.graphql",
                "# A comment\nquery Resolved { resolved(n: 5) }\n",
            ),
            ("cards/seen.gql", "query Seen { seen: optional }\n"),
            (
                "cards/seen.sql",
                "-- A comment\nSELECT to_jsonb('SQL'::text) AS seen;\n",
            ),
            ("cards/README.md", "Not an operation."),
            (".git/hidden.graphql", "{"),
        ],
    );
    // As mounted configuration has them.
    std::fs::create_dir(folder.path().join("..data")).unwrap();
    std::fs::write(
        folder.path().join("..data/linked.graphql"),
        "query Linked { resolved(n: 6) }",
    )
    .unwrap();
    std::os::unix::fs::symlink(
        "..data/linked.graphql",
        folder.path().join("linked.graphql"),
    )
    .unwrap();
    let log = Log::start();
    let code = [Operation::new("query Code { optional }")];
    let store = store_with(SvcConfig::default(), |options| {
        options.operations(code).operations_dir(folder.path())
    })
    .await;
    log.has("operations are registered operations=4 with_sql=1")
        .await;
    assert_eq!(
        store.by_id("Resolved", json!({})).await.data(),
        json!({ "resolved": 5 })
    );
    assert_eq!(
        store.by_id("Seen", json!({})).await.data(),
        json!({ "seen": "SQL" })
    );
    assert_eq!(
        store.by_id("Code", json!({})).await.data(),
        json!({ "optional": null })
    );
    assert_eq!(
        store.by_id("Linked", json!({})).await.data(),
        json!({ "resolved": 6 })
    );
    assert_eq!(
        store
            .by_hash("query Seen { seen: optional }\n", json!({}))
            .await
            .data(),
        json!({ "seen": "SQL" })
    );
}

const VALID: &str = "query A { optional }";

/// The files of a folder, and a part of the refusal.
const MISTAKES: &[(&[(&str, &str)], &str)] = &[
    (
        &[("a.graphql", "{ nothing }")],
        "operations/a.graphql: the document is not valid: ",
    ),
    (&[("a.graphql", "\n{ nothing }")], "(line 2, column 3)"),
    (
        &[("a.graphql", "query {")],
        "operations/a.graphql: the document is not valid: ",
    ),
    (
        &[("a.graphql", "query A { optional } query B { optional }")],
        "operations/a.graphql: the document has 2 operations; give each a document of its own",
    ),
    (
        &[("a.graphql", "fragment F on Query { optional }")],
        "operations/a.graphql: the document",
    ),
    (
        &[("a.graphql", "")],
        "operations/a.graphql: the document is not valid: ",
    ),
    (
        &[
            ("a.graphql", VALID),
            ("b/a.graphql", "query A { resolved }"),
        ],
        "operations/b/a.graphql: operations/a.graphql is named `A` as well; every name can be given once",
    ),
    (
        &[
            ("a.graphql", VALID),
            ("b.graphql", "query A { optional }\n"),
        ],
        "operations/b.graphql: operations/a.graphql has the same text; register it once",
    ),
    (
        &[("b/a.sql", "SELECT 1")],
        "operations/b/a.sql: it belongs to no operation; add `operations/b/a.graphql`, or remove it",
    ),
    (
        &[("a.graphql", VALID), ("a.gql", VALID)],
        "operations/a.graphql: `operations/a.gql` is there as well; keep one of them",
    ),
    (
        &[("a.graphql", VALID), ("a.sql", " \n")],
        "operations/a.graphql: its SQL is empty; write a statement, or leave it out",
    ),
    (
        &[("a.graphql", VALID), ("a.sql", "SELECT $1 AS optional")],
        "operations/a.graphql: its SQL has the parameter $1, for which the operation declares no variable (it declares no variables)",
    ),
    (
        &[
            ("a.graphql", "query A($n: Int) { resolved(n: $n) }"),
            ("a.sql", "SELECT $1 + $3 AS resolved"),
        ],
        "its SQL has the parameter $3, for which the operation declares no variable ($1 is $n)",
    ),
    (
        &[
            ("a.graphql", "{ crates { label shout } }"),
            ("a.sql", "SELECT 1"),
        ],
        "operations/a.graphql: `Crate.shout` is computed by a function of the program, which SQL cannot answer; leave the field out, or register the operation without SQL",
    ),
    (
        &[
            (
                "a.graphql",
                "query A($y: Boolean!) { crates { ...f } } fragment f on Crate { things { holder { shout @skip(if: $y) } } }",
            ),
            ("a.sql", "SELECT 1"),
        ],
        "`Crate.shout` is computed by a function",
    ),
    (
        &[
            (
                "a.graphql",
                "{ crates { label identifier: things { id } } }",
            ),
            ("a.sql", "SELECT 1"),
        ],
        "`Crate.things` and `Crate.label` would both be read from the key \"identifier\" of the SQL's JSON; give `Crate.things` another alias",
    ),
    (
        &[
            (
                "a.graphql",
                "{ a234567890123456789012345678901234567890123456789012345678901234: optional }",
            ),
            ("a.sql", "SELECT 1"),
        ],
        "is longer than the name of a column can be (63); give the field a shorter alias",
    ),
];

#[tokio::test]
async fn each_mistake_in_a_folder_is_named() {
    for (files, expected) in MISTAKES {
        let error = refused_files(files).await;
        assert!(
            error.starts_with("an operation cannot be registered:\n  - ")
                && error.contains(expected),
            "{error}\n{expected}"
        );
    }
    let error = refused_files(&[("a.graphql", "{ nothing }"), ("b.graphql", "{ nobody }")]).await;
    assert!(
        error.starts_with("operations cannot be registered:\n  - operations/a.graphql: "),
        "{error}"
    );
    assert!(error.contains("\n  - operations/b.graphql: "), "{error}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none");
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            dir: Some(missing.clone()),
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let error = refused(config, Vec::new()).await;
    let place = format!(
        "{}: the folder of operations cannot be read (No such file or directory",
        missing.display()
    );
    assert!(error.contains(&place), "{error}");
    assert!(
        error.contains(
            "name one that can with `SVC_OPERATIONS_DIR` or `.operations_dir(…)`, or leave it out"
        ),
        "{error}"
    );

    std::fs::write(folder.path().join("a.graphql"), b"{ resolved } # \xff").unwrap();
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            dir: Some(folder.path().to_owned()),
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let error = refused(config, Vec::new()).await;
    assert!(
        error.contains("a.graphql: the file cannot be read (") && error.contains("text in UTF-8"),
        "{error}"
    );
}

#[tokio::test]
async fn more_than_the_bound_is_refused() {
    let operations = (0..3)
        .map(|n| Operation::new(format!("query Q{n} {{ resolved(n: {n}) }}")))
        .collect();
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            max: 2,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let error = refused(config, operations).await;
    assert!(
        error.contains("`query Q2 { resolved(n: 2) }`: 3 operations are given, and at most 2"),
        "{error}"
    );
    assert!(
        error.contains("register fewer, or raise `SVC_MAX_OPERATIONS`"),
        "{error}"
    );
    let twice = vec![
        Operation::new("{ resolved }"),
        Operation::new("{ resolved } "),
    ];
    let error = refused(SvcConfig::default(), twice).await;
    assert!(
        error.contains("`{ resolved }`: `{ resolved }` has the same text; register it once"),
        "{error}"
    );
}

#[test]
fn settings_are_checked() {
    let error =
        SvcConfig::from_variables(|name| (name == "SVC_MAX_OPERATIONS").then(|| "0".to_owned()))
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "SVC_MAX_OPERATIONS is \"0\"; it must be a number of operations from 1 to 100000"
    );
    let error = SvcConfig::from_variables(|name| {
        (name == "SVC_REGISTERED_ONLY").then(|| "maybe".to_owned())
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "SVC_REGISTERED_ONLY is \"maybe\"; it must be true or false"
    );
    let config =
        SvcConfig::from_variables(|name| (name == "SVC_OPERATIONS_DIR").then(|| "ops".to_owned()))
            .unwrap();
    assert_eq!(config.operations.dir.as_deref(), Some(Path::new("ops")));
}
