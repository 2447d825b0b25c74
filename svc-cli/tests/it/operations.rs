//! `svc check`: findings about registered operations.

use crate::templates::Project;

/// Files of operations.
const OPERATIONS: [(&str, &str); 7] = [
    (
        "page",
        "query Page($size: Int) {\n  users(limit: $size) { id name }\n}\n",
    ),
    ("large", "query Large { users(limit: 5000) { id } }\n"),
    (
        "wide",
        "query Wide { users(limit: 1000) { id name a: id b: id c: id d: id e: id f: id g: id } }\n",
    ),
    (
        "costly",
        "query Costly { users(limit: 1000) { id name a: id b: id c: id d: id e: id f: id g: id h: id i: id } }\n",
    ),
    ("old", "{\n  users(limit: 3) {\n    email\n  }\n}\n"),
    (
        "silent",
        "# svc-ignore anonymous\n{ users(limit: 3) { id } }\n",
    ),
    (
        "visit",
        "mutation Visit { visit { ... on VisitSuccess { query { a: users(limit: 1) { id } b: __typename } } } }\n",
    ),
];

/// The findings of a check about the files: their places, and words of them.
const FINDINGS: [(&str, &str); 7] = [
    (
        "✗ operations/costly.graphql:1: Costly: clients get an error: the operation has a complexity of 11001; ",
        "(rejected)",
    ),
    (
        "✗ operations/large.graphql:1: Large: `Query.users(limit:)` is 5000, but a page has at most 1000 rows ",
        "(page-too-large)",
    ),
    (
        "warning: operations/old.graphql:1: anonymous: it has no name ",
        "(anonymous)",
    ),
    (
        "warning: operations/old.graphql:3: anonymous: `User.email` is deprecated: write to support ",
        "(deprecated)",
    ),
    (
        "warning: operations/page.graphql:2: Page: `Query.users(limit:)` is the variable `$size` without an upper bound: \
         clients may request up to 1000 rows; with the largest pages, the operation costs 2001 of 10000 ",
        "(page-variable)",
    ),
    (
        "✗ operations/visit.graphql:1: Visit: clients get an error: the document has 3 root fields; at most 2 ",
        "(rejected)",
    ),
    (
        "warning: operations/wide.graphql:1: Wide: its cost is 9001, more than 80 % of the limit 10000 ",
        "(near-limit)",
    ),
];

/// A mutation whose result has the root of queries.
const VISIT: &str = r#"
#[svc_result(query)]
pub enum VisitResult {
    Success,
    Error,
}

#[svc::mutation]
pub fn visit() -> VisitResult {
    VisitResultSuccess::new("ok").into()
}
"#;

#[test]
fn operations_are_compared_with_limits_schema_and_earlier_costs() {
    let project = Project::new("basic", "new_operations");
    let settings = project.read(".env");
    project.write(
        ".env",
        &format!("{settings}\nSVC_OPERATIONS_DIR=operations\nSVC_LIMIT_ROOT_FIELDS=2\n"),
    );
    let mutations = project.read("src/mutations/mod.rs");
    project.write("src/mutations/mod.rs", &format!("{mutations}{VISIT}"));
    let (marker, list) = (
        "        // svc: mutations\n",
        "        |options: AppOptions| options.mutations(mutations![visit]),\n",
    );
    project.edit("src/mutations/mod.rs", marker, list);
    let (field, deprecated) = (
        "    pub email",
        "    #[deprecated(note = \"write to support\")]\n    pub email",
    );
    project.edit("src/types/mod.rs", field, deprecated);

    findings_name_file_operation_and_code(&project);
    std::fs::remove_dir_all(project.folder().join("operations")).expect("the operations");
    growth_is_a_failure(&project);
    documents_of_a_manifest_have_its_id(&project);
}

fn findings_name_file_operation_and_code(project: &Project) {
    for (name, text) in OPERATIONS {
        project.write(&format!("operations/{name}.graphql"), text);
    }

    let found = project.svc(&["check"]);
    let ignore = [
        "--ignore",
        "rejected",
        "--ignore",
        "page-too-large",
        "--ignore",
        "near-limit",
    ];
    let ignored = project.svc(&[&["check"][..], &ignore].concat());
    let unknown = project.svc(&["check", "--ignore", "nonsense"]);

    let lines = || found.err.lines().filter(|line| line.contains(".graphql"));
    for (start, code) in FINDINGS {
        let is_it = |line: &str| line.starts_with(start) && line.ends_with(code);
        assert!(lines().any(is_it), "{start}{code}: {}", found.err);
    }
    assert_eq!(lines().count(), FINDINGS.len(), "{}", found.err);
    assert_eq!(found.code, Some(1), "{}", found.err);
    assert!(
        found
            .err
            .contains("error: 3 problems of registered operations\nhint: "),
        "{}",
        found.err
    );

    assert!(
        ignored.err.contains("registered operations: 7\n"),
        "{}",
        ignored.err
    );
    assert!(ignored.err.contains("(page-variable)"), "{}", ignored.err);
    assert!(!ignored.err.contains("(near-limit)"), "{}", ignored.err);
    ignored.good();
    assert!(unknown.misused().contains("the codes are page-variable, "));
}

fn growth_is_a_failure(project: &Project) {
    let file = "operations/page.graphql";
    project.write(file, "query Page { users(limit: 10) { id } }\n");
    project.svc(&["check", "--update-operations"]).good();
    let written = project.read("svc.operations.json");
    let baseline: serde_json::Value = serde_json::from_str(&written).expect("JSON");

    project.write(file, "query Page { users(limit: 10) { id name } }\n");
    project.write(
        "operations/new.graphql",
        "query New { users(limit: 1) { id } }\n",
    );
    let grown = project.svc(&["check"]);
    let allowed = project.svc(&["check", "--max-growth", "100"]);
    let missing = project.svc(&["check", "--operations-baseline", "none.json"]);

    let entry = &baseline["operations"][0];
    assert_eq!(entry["name"], "Page", "{written}");
    assert_eq!((&entry["depth"], &entry["cost"]), (&2.into(), &11.into()));
    assert_eq!(entry["hash"].as_str().map(str::len), Some(64), "{written}");
    assert_eq!(grown.code, Some(1), "{}", grown.err);
    let growth = "✗ operations/page.graphql:1: Page: its cost has grown from 11 to 21, by more than 20 % (cost-growth)\n";
    assert!(grown.err.contains(growth), "{}", grown.err);
    assert!(
        allowed
            .err
            .contains("hint: operations that are not in svc.operations.json: 1; "),
        "{}",
        allowed.err
    );
    allowed.good();
    assert_eq!(missing.code, Some(1), "{}", missing.err);
    assert!(
        missing.err.contains("error: cannot read none.json: "),
        "{}",
        missing.err
    );
}

fn documents_of_a_manifest_have_its_id(project: &Project) {
    let settings = project.read(".env");
    project.write(
        ".env",
        &format!("{settings}SVC_TRUSTED_DOCUMENTS=manifest.json\n"),
    );
    let manifest = r#"{"abc": "query Listed { users(limit: 5000) { id } }"}"#;
    project.write("manifest.json", manifest);
    let found = project.svc(&["check", "--max-growth", "100"]);

    let finding = "✗ manifest.json: abc: Listed: `Query.users(limit:)` is 5000, ";
    assert_eq!(found.code, Some(1), "{}", found.err);
    assert!(found.err.contains(finding), "{}", found.err);
}
