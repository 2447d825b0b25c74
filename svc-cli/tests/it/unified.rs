//! A package that gives the third-party crates of a project the features that they have in this
//! repository.
//!
//! For cargo, a crate with other features is another crate, and so is every crate that depends on
//! it. With the same features, a project finds its crates in the target folder of the repository.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use crate::support::{cargo, said};

/// The features of svc in the tests of a new project.
const FEATURES: &str = "auth,embedded-download,testing";

/// A crate of the registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    /// Whether macros or build scripts depend on it. Cargo selects its features separately for them.
    is_for_host: bool,
}

/// Returns the manifest of the package, which depends on every third-party crate of a new project
/// with the features that it has in `cargo test --workspace`.
pub(crate) fn manifest() -> &'static str {
    static MANIFEST: OnceLock<String> = OnceLock::new();

    MANIFEST.get_or_init(|| {
        let of_projects = crates(&[
            "--package",
            "svc",
            "--features",
            FEATURES,
            "--edges",
            "normal,build",
        ]);
        let mut shared = crates(&["--workspace", "--edges", "normal,build,dev"]);
        shared.retain(|found, _| of_projects.contains_key(found));
        written(&shared)
    })
}

/// Returns the manifest of a package that depends on these crates.
fn written(crates: &BTreeMap<Crate, String>) -> String {
    let mut text =
        "[package]\nname = \"unified\"\nversion = \"0.1.0\"\nedition = \"2024\"\n".to_owned();
    // Cargo selects the features of build dependencies even without a build script, and does not
    // build them.
    for (table, is_for_host) in [("dependencies", false), ("build-dependencies", true)] {
        let _ = writeln!(text, "\n[{table}]");
        for (Crate { name, version, .. }, features) in crates
            .iter()
            .filter(|(found, _)| found.is_for_host == is_for_host)
        {
            // There may be several versions of a crate.
            let key =
                format!("{name}-{version}").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let features: Vec<&str> = features
                .split(',')
                .filter(|feature| !feature.is_empty())
                .collect();
            let _ = writeln!(
                text,
                "{key} = {{ package = \"{name}\", version = \"={version}\", default-features = false, \
                 features = {features:?} }}"
            );
        }
    }
    text
}

/// Returns the third-party crates of packages of the repository, with their features.
fn crates(arguments: &[&str]) -> BTreeMap<Crate, String> {
    let mut tree = cargo(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
    tree.args(["tree", "--locked", "--color", "never", "--charset", "ascii"]);
    tree.args(["--format", "\t{p}\t{f}"]);
    // Without a target, cargo merges the crates for the host with equal crates for programs.
    tree.args(["--target", "host-tuple"]).args(arguments);
    read(&said(tree.output().expect("cargo")).good())
}

/// A package that the current line is below.
struct Parent {
    is_for_host: bool,
    /// Whether the dependencies that follow are for the host.
    are_dependencies_for_host: bool,
}

/// Reads the output of `cargo tree`. Each line has a package, indented below a package that depends
/// on it, or the heading of build or development dependencies.
fn read(tree: &str) -> BTreeMap<Crate, String> {
    let mut crates = BTreeMap::new();
    let mut parents: Vec<Parent> = Vec::new();
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let Some((indent, package)) = line.split_once('\t') else {
            let (indent, heading) = line.split_at(line.find('[').expect("a heading"));
            parents.truncate(indent.len() / 4 + 1);
            let parent = parents.last_mut().expect("a package");
            parent.are_dependencies_for_host =
                parent.is_for_host || heading == "[build-dependencies]";
            continue;
        };

        let (package, features) = package.split_once('\t').expect("the features");
        let is_macro = package.contains(" (proc-macro)");
        parents.truncate(indent.len() / 4);
        let is_for_host = is_macro
            || parents
                .last()
                .is_some_and(|parent| parent.are_dependencies_for_host);
        parents.push(Parent {
            is_for_host,
            are_dependencies_for_host: is_for_host,
        });

        // The folder of a package of the repository follows in parentheses.
        let package = package.replace(" (proc-macro)", "");
        let (name, version) = package.split_once(" v").expect("a version");
        if version.contains('(') {
            continue;
        }
        let found = Crate {
            name: name.to_owned(),
            // Requirements ignore the metadata.
            version: version.split('+').next().unwrap_or_default().to_owned(),
            is_for_host,
        };
        crates.insert(found, features.trim_end_matches(" (*)").to_owned());
    }
    crates
}

#[test]
fn crates_for_the_host_are_listed_apart() {
    let tree = "\
\tshop v0.1.0 (/shop)\tdefault
|-- \tring v0.17.14\tstd
|   |-- \tcfg-if v1.0.5\t
|   [build-dependencies]
|   `-- \tcc v1.11.1\tparallel
|       `-- \tcfg-if v1.0.5\t
`-- \tserde v1.0.1+meta\tderive,std
    `-- \tserde_derive v1.0.1 (proc-macro)\t
        `-- \tsyn v2.0.0\tfull
[build-dependencies]
`-- \tring v0.17.14\tstd (*)
[dev-dependencies]
`-- \thex v0.4.3\talloc
";
    let listed: Vec<String> = read(tree)
        .into_iter()
        .map(|(found, features)| {
            let host = if found.is_for_host {
                " for the host"
            } else {
                ""
            };
            format!("{} {}{host}: {features}", found.name, found.version)
        })
        .collect();
    assert_eq!(
        listed,
        [
            "cc 1.11.1 for the host: parallel",
            "cfg-if 1.0.5: ",
            "cfg-if 1.0.5 for the host: ",
            "hex 0.4.3: alloc",
            "ring 0.17.14: std",
            "ring 0.17.14 for the host: std",
            "serde 1.0.1: derive,std",
            "serde_derive 1.0.1 for the host: ",
            "syn 2.0.0 for the host: full",
        ]
    );
}
