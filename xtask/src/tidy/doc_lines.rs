//! First lines of doc comments: they say what an item is, where a question would only announce it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tidy::TextFile;
use crate::tidy::known::Known;

const QUESTIONS: [&str; 5] = ["What", "How", "Who", "When", "Where"];

/// The lines of folders that have more such lines than is known.
pub(crate) fn check(files: &[TextFile], known: &mut Known) -> Vec<String> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension() == "rs") {
        let places = questions(&file.text).map(|(line, text)| format!("{}:{line}: `{text}`", file.path.display()));
        folders.entry(folder(&file.path)).or_default().extend(places);
    }
    folders.retain(|_, places| !places.is_empty());
    let counts = folders.iter().map(|(folder, places)| (folder.clone(), places.len())).collect();
    let shown = |(folder, known): (String, usize)| {
        let places = &folders[&folder];
        let first =
            format!("{folder}: {} doc comments begin with a question, {known} are known; say what it is", places.len());
        std::iter::once(first).chain(places.iter().map(|place| format!("    {place}"))).collect::<Vec<_>>().join("\n")
    };
    known.exceeded("doc-questions", &counts).into_iter().map(shown).collect()
}

/// The first lines that begin with a question, with their numbers.
fn questions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_comment = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let doc = line.trim_start();
        let doc = doc.strip_prefix("///").or_else(|| doc.strip_prefix("//!"));
        let is_first = !std::mem::replace(&mut in_comment, doc.is_some());
        let doc = doc.filter(|_| is_first)?.trim();
        let first = doc.split(|letter: char| !letter.is_alphabetic()).next()?;
        QUESTIONS.contains(&first).then_some((index + 1, doc))
    })
}

/// A crate's folder with its sources, and the folder inside of it.
fn folder(path: &Path) -> String {
    let folders: Vec<_> = path.parent().into_iter().flat_map(Path::iter).map(|name| name.to_string_lossy()).collect();
    let depth =
        folders.iter().position(|name| name == "src" || name == "it").map_or(folders.len(), |source| source + 2);
    folders[..depth.min(folders.len())].join("/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{folder, questions};

    #[test]
    fn only_first_lines_that_ask_are_found() {
        let text = "//! What it is.\n\n/// Whether.\n/// What then.\n  /// Whose.\nfn f() {}\n    /// When it ends, it ends.\n";
        assert_eq!(questions(text).map(|(line, _)| line).collect::<Vec<_>>(), [1, 7]);
    }

    #[test]
    fn folders_are_one_below_the_sources() {
        for (path, expected) in [
            ("svc/src/engine/find/mod.rs", "svc/src/engine"),
            ("svc/src/lib.rs", "svc/src"),
            ("benches/x/a.rs", "benches/x"),
        ] {
            assert_eq!(folder(Path::new(path)), expected);
        }
    }
}
