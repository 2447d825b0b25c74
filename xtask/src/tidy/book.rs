//! The book: one list of chapters, links that lead somewhere, true tables of features, and existing
//! tests.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::tidy::TextFile;

/// The places that list the features of the crate `svc`.
const FEATURE_TABLES: [&str; 2] = ["docs/install.md", "svc/src/lib.rs"];

/// The pages that name the tests of claims.
const TESTS: [&str; 2] = ["docs/asvs.md", "tests/README.md"];

/// The places where the book is not in step with itself or with the crate.
pub(crate) fn check(files: &[TextFile]) -> Result<Vec<String>> {
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == Path::new(path));
        file.map(|file| file.text.as_str())
            .with_context(|| format!("{path} is missing"))
    };

    let mut found = chapters(text("docs/README.md")?, text("docs/SUMMARY.md")?, files);
    found.extend(
        files
            .iter()
            .filter(|file| file.extension() == "md")
            .flat_map(|file| dead_links(file, files)),
    );

    let features = features(text("svc/Cargo.toml")?);
    for path in FEATURE_TABLES {
        if feature_table(text(path)?) != features {
            found.push(format!(
                "{path}: the table of features differs from svc/Cargo.toml, which has {features:?}"
            ));
        }
    }

    for path in TESTS {
        found.extend(missing_tests(path, text(path)?, files));
    }

    Ok(found)
}

/// The names of tests in a page of claims that no Rust file defines.
fn missing_tests(path: &str, page: &str, files: &[TextFile]) -> Vec<String> {
    let defined: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.extension() == "rs")
        .flat_map(|file| defined_names(&file.text))
        .collect();

    page.split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|span| Some(span.rsplit_once("::")?.1))
        .filter(|name| {
            !name.is_empty() && !name.contains(|c: char| !matches!(c, 'a'..='z' | '0'..='9' | '_'))
        })
        .filter(|name| !defined.contains(name))
        .map(|name| format!("{path}: `{name}` is neither a function nor a module"))
        .collect()
}

/// The names of functions and modules in a source.
fn defined_names(source: &str) -> impl Iterator<Item = &str> {
    ["fn ", "mod "].into_iter().flat_map(move |keyword| {
        source.split(keyword).skip(1).map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
    })
}

/// The front page and the summary list the same chapters in the same order, and all that there are.
fn chapters(front: &str, summary: &str, files: &[TextFile]) -> Vec<String> {
    let list = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("- ["))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };

    let (front, summary) = (
        list(front.split_once("## Chapters").map_or("", |(_, rest)| rest)),
        list(summary),
    );
    let mut found = Vec::new();
    if front != summary {
        found.push("docs/README.md: the chapters differ from docs/SUMMARY.md".to_owned());
    }

    for file in files
        .iter()
        .filter(|file| file.path.parent() == Some(Path::new("docs")) && file.extension() == "md")
    {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let listed = summary
            .iter()
            .any(|line| line.ends_with(&format!("]({name})")));
        if !listed && name != "README.md" && name != "SUMMARY.md" {
            found.push(format!("docs/SUMMARY.md: {name} is missing"));
        }
    }

    found
}

/// The links of a page that lead to no tracked file, or to no heading of it.
fn dead_links(page: &TextFile, files: &[TextFile]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in page.text.lines().enumerate() {
        for link in line
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(link, _)| link)
        {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            // Rustdoc checks the links to items.
            let is_item = link.starts_with("macro@");
            if is_item || link.contains("://") || link.contains(' ') {
                continue;
            }

            let target = if path.is_empty() {
                page.path.clone()
            } else {
                join(&page.path, path)
            };

            let headings = files
                .iter()
                .find(|file| file.path == target)
                .map(|file| headings(&file.text));
            let is_folder = files.iter().any(|file| file.path.starts_with(&target));

            if !is_folder
                || headings.is_some_and(|all| !heading.is_empty() && !all.contains(heading))
            {
                found.push(format!(
                    "{}:{}: `{link}` leads nowhere",
                    page.path.display(),
                    number + 1
                ));
            }
        }
    }

    found
}

/// A link's path, from the folder of its page.
pub(crate) fn join(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }

    path
}

/// The names by which links lead to headings, as GitHub makes them.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => {
            Some(letter.to_ascii_lowercase())
        }
        _ => None,
    };

    titles
        .map(|title| title.chars().filter_map(letter).collect())
        .collect()
}

/// The features of a manifest, and whether each is on by default.
fn features(manifest: &str) -> BTreeSet<(String, bool)> {
    let section = manifest
        .split_once("[features]\n")
        .map_or("", |(_, rest)| rest);
    let section = section
        .split_once("\n[")
        .map_or(section, |(section, _)| section);
    let lines = || section.lines().filter_map(|line| line.split_once(" = "));
    let default = lines()
        .find(|(name, _)| *name == "default")
        .map_or("", |(_, list)| list);
    let feature =
        |(name, _): (&str, &str)| (name.to_owned(), default.contains(&format!("\"{name}\"")));

    lines()
        .filter(|(name, _)| *name != "default")
        .map(feature)
        .collect()
}

/// The same, of a table with the columns "Feature" and "Default".
fn feature_table(text: &str) -> BTreeSet<(String, bool)> {
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches("//!").trim());
    let rows = lines
        .skip_while(|line| !line.starts_with("| Feature | Default |"))
        .skip(2);

    rows.map_while(|row| row.strip_prefix("| `"))
        .filter_map(|row| {
            let (name, rest) = row.split_once("` | ")?;
            Some((name.to_owned(), rest.starts_with("yes")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{chapters, dead_links, feature_table, features, join, missing_tests};
    use crate::tidy::TextFile;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile {
            path: PathBuf::from(path),
            text: text.to_owned(),
        }
    }

    #[test]
    fn both_lists_have_all_chapters_in_one_order() {
        let files = [
            file("docs/a.md", ""),
            file("docs/b.md", ""),
            file("docs/SUMMARY.md", ""),
        ];

        let list = "- [A](a.md)\n- [B](b.md)\n";
        let front = format!("- [Concept](a.md)\n## Chapters\n{list}");
        assert!(chapters(&front, list, &files).is_empty());
        assert_eq!(
            chapters(&front, "- [B](b.md)\n- [A](a.md)\n", &files).len(),
            1
        );

        assert_eq!(
            chapters(&front.replace("- [B](b.md)\n", ""), "- [A](a.md)\n", &files).len(),
            1
        );
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let files = [
            file("docs/a.md", "# A\n## `It`, then\n"),
            file("README.md", ""),
        ];
        let dead = |text: &str| dead_links(&file("docs/b.md", text), &files).len();
        assert_eq!(
            dead("[a](a.md#it-then) [up](../README.md) [docs](../docs) [web](https://x.example/y)"),
            0
        );
        assert_eq!(dead("[a](a.md#it) [up](README.md)"), 2);

        assert_eq!(
            join(Path::new("docs/b.md"), "../x/./y.rs"),
            Path::new("x/y.rs")
        );
    }

    #[test]
    fn tests_named_in_the_page_of_claims_exist() {
        let files = [file("a.rs", "mod times;\n\nasync fn it_works() {}\n")];
        let page =
            "```console\n$ test a::b\n```\n\n| `a::it_works`, `a::times`, `a::B`, `…::it_fails` |";
        assert_eq!(
            missing_tests("tests/README.md", page, &files),
            ["tests/README.md: `it_fails` is neither a function nor a module"]
        );
    }

    #[test]
    fn tables_of_features_are_compared_with_the_manifest() {
        let manifest = "[features]\ndefault = [\"a\"]\n## Says.\na = []\nb = [\"a\"]\n\n[dependencies]\nc = \"1\"\n";
        let table = "//! | Feature | Default | What it adds |\n//! |---|---|---|\n//! | `a` | yes | x |\n//! | `b` | no | y |\n";
        assert_eq!(feature_table(table), features(manifest));
        assert_ne!(
            feature_table(&table.replace("no", "yes")),
            features(manifest)
        );
    }
}
