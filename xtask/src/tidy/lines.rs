//! Lengths of files, and what no line of them may hold.

use crate::tidy::TextFile;

/// A longer source file wants to be split.
const MAX_LINES: usize = 500;

/// Marks of code that is not there yet.
const UNFINISHED: [&str; 4] = ["todo!(", "unimplemented!(", "FIXME", "#[ignore"];

/// The mark of a test that `cargo xtask test long` runs. The long suite names all of their modules.
pub(crate) const OF_THE_LONG_SUITE: &str =
    "#[ignore = \"compares times, so it runs in the long suite\"]";

/// The places of all files that break a rule.
pub(crate) fn check(files: &[TextFile]) -> Vec<String> {
    files.iter().flat_map(check_file).collect()
}

fn check_file(file: &TextFile) -> Vec<String> {
    let mut found = Vec::new();
    let (path, is_rust) = (file.path.display(), file.extension() == "rs");
    if is_rust && file.text.lines().count() > MAX_LINES {
        found.push(format!("{path}: over {MAX_LINES} lines; split it by noun"));
    }

    // This file names what it looks for.
    let is_text = matches!(
        file.extension(),
        "rs" | "md" | "toml" | "sql" | "sh" | "py" | "js" | "mjs" | "json" | "yml"
    );
    if !is_text || file.path.ends_with("tidy/lines.rs") {
        return found;
    }

    for (number, line) in file.text.lines().enumerate() {
        let place = format!("{path}:{}", number + 1);
        if is_rust && line != line.trim_end() {
            found.push(format!("{place}: white space at the end of the line"));
        }

        if ["/root/", "/home/"]
            .iter()
            .any(|folder| line.contains(folder))
            && !line.contains("// tidy: allow")
        {
            found.push(format!("{place}: a path of one machine"));
        }

        if is_rust && UNFINISHED.iter().any(|mark| line.contains(mark)) && line != OF_THE_LONG_SUITE
        {
            found.push(format!("{place}: unfinished"));
        }
    }

    found
}
