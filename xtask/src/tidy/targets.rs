//! Targets that cargo does not test (`test = false`, `doctest = false`): a test or a snippet in one
//! of them would never run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::features::metadata;
use crate::tidy::TextFile;
use crate::tidy::book::join;

/// The source that runs the snippets of pages that svc-macros includes.
const RUNS_PAGES: &str = "svc/src/book.rs";

/// The words after the ticks of a snippet that rustdoc runs or compiles.
const OF_SNIPPETS: [&str; 6] = [
    "rust",
    "should_panic",
    "no_run",
    "compile_fail",
    "standalone_crate",
    "test_harness",
];

/// The kinds of libraries.
const LIBRARIES: [&str; 2] = ["lib", "proc-macro"];

/// The tests and snippets that cargo does not run.
pub(crate) fn check(files: &[TextFile]) -> Result<Vec<String>> {
    let targets = targets(&metadata()?)?;
    Ok(targets
        .iter()
        .flat_map(|target| target.check(files))
        .collect())
}

/// A target of a package.
#[derive(Debug)]
struct Target {
    name: String,
    /// The file of its crate root.
    root: PathBuf,
    has_tests_run: bool,
    has_snippets_run: bool,
}

/// Returns the targets of which cargo leaves something out.
fn targets(metadata: &Value) -> Result<Vec<Target>> {
    let workspace = metadata["workspace_root"]
        .as_str()
        .context("the workspace has no folder")?;

    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| {
        let targets = package["targets"].as_array().into_iter().flatten();
        targets.map(move |target| (package, target))
    });

    let mut found = Vec::new();
    for (package, target) in targets {
        let kinds = target["kind"].as_array().into_iter().flatten();
        let kind = kinds.filter_map(Value::as_str).next().unwrap_or_default();
        let source = target["src_path"]
            .as_str()
            .context("a target has no source")?;
        let target = Target {
            name: format!("{} ({kind})", package["name"].as_str().unwrap_or_default()),
            root: Path::new(source).strip_prefix(workspace)?.to_owned(),
            has_tests_run: target["test"] == true || kind == "custom-build",
            // Only libraries have documentation that is tested.
            has_snippets_run: target["doctest"] == true || !LIBRARIES.contains(&kind),
        };

        if !(target.has_tests_run && target.has_snippets_run) {
            found.push(target);
        }
    }

    Ok(found)
}

impl Target {
    fn check(&self, files: &[TextFile]) -> Vec<String> {
        let (sources, mut found) = sources(&self.root, files);
        for source in sources {
            if !self.has_tests_run {
                found.extend(self.tests(source));
            }
            if !self.has_snippets_run {
                found.extend(self.snippets(source));
                found.extend(self.pages(source, files));
            }
        }

        found
    }

    fn tests(&self, source: &TextFile) -> Vec<String> {
        let lines = source.text.lines().zip(1..);
        let tests = lines.filter(|(line, _)| has_test(line));
        tests
            .map(|(_, number)| {
                let place = format!("{}:{number}", source.path.display());
                format!(
                    "{place}: this test never runs: {} has `test = false`",
                    self.name
                )
            })
            .collect()
    }

    fn snippets(&self, source: &TextFile) -> Vec<String> {
        let lines = source.text.lines().zip(1..);
        let documentation = lines.filter_map(|(line, number)| {
            let line = line.trim_start();
            let text = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
            Some((text, number))
        });

        snippets(documentation)
            .into_iter()
            .map(|number| self.snippet(&source.path, number))
            .collect()
    }

    /// The snippets of pages that are included as documentation, unless `svc` runs them.
    fn pages(&self, source: &TextFile, files: &[TextFile]) -> Vec<String> {
        let mut found = Vec::new();
        for link in source.text.lines().filter_map(included) {
            let path = join(&source.path, link);
            if is_run_by_svc(&path, files) {
                continue;
            }

            match files.iter().find(|file| file.path == path) {
                Some(page) => {
                    let snippets = snippets(page.text.lines().zip(1..));
                    found.extend(snippets.into_iter().map(|line| self.snippet(&path, line)));
                }
                None => found.push(format!("{}: `{link}` is missing", source.path.display())),
            }
        }

        found
    }

    fn snippet(&self, path: &Path, line: usize) -> String {
        format!(
            "{}:{line}: this snippet never runs: {} has `doctest = false`",
            path.display(),
            self.name
        )
    }
}

/// Returns the files of a crate, and a message for each of its modules that has none.
fn sources<'a>(root: &Path, files: &'a [TextFile]) -> (Vec<&'a TextFile>, Vec<String>) {
    let (mut sources, mut missing) = (Vec::new(), Vec::new());
    let file = |path: &Path| files.iter().find(|file| file.path == path);
    let mut open = Vec::new();
    match file(root) {
        Some(root) => open.push(root),
        None => missing.push(format!("{}: not tracked by git", root.display())),
    }

    while let Some(source) = open.pop() {
        sources.push(source);
        let folder = folder_of_modules(&source.path, source.path == root);

        for module in source.text.lines().filter_map(declared_module) {
            let name = module.trim_start_matches("r#");
            let paths = [
                folder.join(format!("{name}.rs")),
                folder.join(name).join("mod.rs"),
            ];

            match paths.iter().find_map(|path| file(path)) {
                Some(module) => open.push(module),
                None => missing.push(format!(
                    "{}: the module `{module}` has no file where its tests could be looked for",
                    source.path.display()
                )),
            }
        }
    }

    (sources, missing)
}

/// The folder of the modules that a file declares.
fn folder_of_modules(path: &Path, is_root: bool) -> PathBuf {
    if is_root || path.ends_with("mod.rs") {
        path.parent().unwrap_or(Path::new("")).to_owned()
    } else {
        path.with_extension("")
    }
}

/// The name of the module in a line such as `pub(crate) mod name;`.
fn declared_module(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };

    line.trim_start().strip_prefix("mod ")?.strip_suffix(';')
}

/// Whether a line has an attribute such as `#[test]` or `#[tokio::test(…)]`.
fn has_test(line: &str) -> bool {
    let is_test = |attribute: &str| {
        let path = attribute.split(['(', ']', ' ']).next().unwrap_or_default();
        path.rsplit("::").next() == Some("test")
    };

    !line.trim_start().starts_with("//") && line.split("#[").skip(1).any(is_test)
}

/// The page in a line such as `#[doc = include_str!("page.md")]`.
fn included(line: &str) -> Option<&str> {
    let attribute = line.trim_start().strip_prefix('#')?;
    let (_, rest) = attribute.split_once("doc = include_str!(\"")?;
    Some(rest.split_once('"')?.0)
}

/// Whether the doc tests of `svc` have this page of svc-macros.
fn is_run_by_svc(page: &Path, files: &[TextFile]) -> bool {
    let name = page.file_name().unwrap_or_default().to_string_lossy();
    let quoted = format!("\"{name}\"");
    let book = files.iter().find(|file| file.path == Path::new(RUNS_PAGES));
    page.starts_with("svc-macros/src/docs") && book.is_some_and(|book| book.text.contains(&quoted))
}

/// The lines of documentation, with their numbers, at which snippets for rustdoc begin.
fn snippets<'a>(lines: impl Iterator<Item = (&'a str, usize)>) -> Vec<usize> {
    let (mut found, mut is_open) = (Vec::new(), false);
    for (line, number) in lines {
        let line = line.trim_start();
        let Some(words) = line.strip_prefix("```").or(line.strip_prefix("~~~")) else {
            continue;
        };

        if !is_open && is_for_rustdoc(words) {
            found.push(number);
        }
        is_open = !is_open;
    }

    found
}

/// Whether rustdoc runs or compiles a snippet with these words after its ticks.
fn is_for_rustdoc(words: &str) -> bool {
    let words: Vec<&str> = words
        .split([',', ' '])
        .filter(|word| !word.is_empty())
        .collect();
    let is_known =
        |word: &&str| OF_SNIPPETS.contains(word) || word.starts_with("edition") || is_code(word);

    let is_rust = words.contains(&"rust") || words.iter().all(is_known);
    is_rust && !words.iter().any(|word| word.starts_with("ignore"))
}

/// Whether a word is the code of an error, such as `E0308`.
fn is_code(word: &str) -> bool {
    word.strip_prefix('E').is_some_and(|digits| {
        digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::{Target, is_for_rustdoc, targets};
    use crate::tidy::TextFile;

    fn found(target: &Target, files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| TextFile {
                path: PathBuf::from(path),
                text: (*text).to_owned(),
            })
            .collect();
        target.check(&files)
    }

    fn library() -> Target {
        Target {
            name: "a (lib)".to_owned(),
            root: PathBuf::from("a/src/lib.rs"),
            has_tests_run: false,
            has_snippets_run: false,
        }
    }

    #[test]
    fn targets_without_tests_or_snippets_are_listed() {
        let target = |kind: &str, test: bool, doctest: bool| {
            json!({
                "kind": [kind],
                "src_path": format!("/w/a/{kind}.rs"),
                "test": test,
                "doctest": doctest,
            })
        };
        let metadata = json!({ "workspace_root": "/w", "packages": [{ "name": "a", "targets": [
            target("lib", true, false),
            target("bin", true, false),
            target("test", false, false),
            target("custom-build", false, false),
        ] }] });
        let found = targets(&metadata).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|found| {
                (
                    found.name.as_str(),
                    found.has_tests_run,
                    found.has_snippets_run,
                )
            })
            .collect();

        assert_eq!(shown, [("a (lib)", true, false), ("a (test)", false, true)]);
        assert_eq!(found[0].root, PathBuf::from("a/lib.rs"));
    }

    #[test]
    fn tests_are_found_in_all_modules_of_a_target() {
        let files = [
            (
                "a/src/lib.rs",
                "pub(crate) mod b;\nmod c;\n// #[test]\n#[testing]\nfn f() {}\n",
            ),
            (
                "a/src/b.rs",
                "mod d;\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() {}\n}\n",
            ),
            (
                "a/src/b/d.rs",
                "#[tokio::test(flavor = \"multi_thread\")]\nasync fn f() {}\n",
            ),
            ("a/src/c/mod.rs", "#[svc::test]\nasync fn f() {}\n"),
            ("a/src/main.rs", "#[test]\nfn of_another_target() {}\n"),
        ];
        let mut found = found(&library(), &files);
        found.sort();
        assert_eq!(
            found,
            [
                "a/src/b.rs:4: this test never runs: a (lib) has `test = false`",
                "a/src/b/d.rs:1: this test never runs: a (lib) has `test = false`",
                "a/src/c/mod.rs:1: this test never runs: a (lib) has `test = false`",
            ]
        );
    }

    #[test]
    fn a_module_without_a_file_is_an_error() {
        let files = [("a/src/lib.rs", "#[path = \"elsewhere.rs\"]\nmod b;\n")];
        assert_eq!(found(&library(), &files).len(), 1);
        assert_eq!(found(&library(), &[]).len(), 1);
    }

    #[test]
    fn snippets_are_found_in_comments_and_pages() {
        let files = [
            (
                "a/src/lib.rs",
                "#![doc = include_str!(\"../README.md\")]\n/// ```\n/// f();\n/// ```\n/// ```text\n/// x\n/// ```\n",
            ),
            (
                "a/README.md",
                "# A\n\n```sh\nx\n```\n\n```rust,no_run\nf();\n```\n",
            ),
        ];
        assert_eq!(
            found(&library(), &files),
            [
                "a/src/lib.rs:2: this snippet never runs: a (lib) has `doctest = false`",
                "a/README.md:7: this snippet never runs: a (lib) has `doctest = false`",
            ]
        );
    }

    #[test]
    fn pages_that_svc_runs_may_have_snippets() {
        let macros = Target {
            root: PathBuf::from("svc-macros/src/lib.rs"),
            ..library()
        };
        let page = ("svc-macros/src/docs/query.md", "```\nf();\n```\n");
        let source = (
            "svc-macros/src/lib.rs",
            "#[doc = include_str!(\"docs/query.md\")]\n",
        );
        let book = ("svc/src/book.rs", "query: \"query.md\";\n");
        assert_eq!(found(&macros, &[source, page, book]).len(), 0);
        assert_eq!(found(&macros, &[source, page]).len(), 1);
    }

    #[test]
    fn snippets_for_rustdoc_are_recognized_by_their_words() {
        for words in [
            "",
            "rust",
            "no_run",
            "compile_fail,E0308",
            "edition2024",
            "rust,x",
        ] {
            assert!(is_for_rustdoc(words), "{words}");
        }
        for words in [
            "text",
            "ignore",
            "rust,ignore",
            "ignore-wasm",
            "graphql",
            "sh,x",
        ] {
            assert!(!is_for_rustdoc(words), "{words}");
        }
    }
}
