//! The repository's own rules.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

/// A longer source file wants to be split.
const MAX_LINES: usize = 500;

/// Checks every tracked file.
pub(crate) fn tidy() -> Result<()> {
    let output = Command::new("git").args(["ls-files", "-z"]).output()?;
    let files = String::from_utf8(output.stdout)?;
    let mut found = Vec::new();
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        check(Path::new(file), &text, &mut found);
    }
    if found.is_empty() {
        return Ok(());
    }
    bail!("{} places to mend:\n{}", found.len(), found.join("\n"));
}

fn check(path: &Path, text: &str, found: &mut Vec<String>) {
    let file = path.display();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extension == "rs" && text.lines().count() > MAX_LINES {
        found.push(format!("{file}: over {MAX_LINES} lines; split it by noun"));
    }
    if !matches!(extension, "rs" | "md" | "toml" | "sql" | "sh" | "py" | "js" | "mjs" | "json" | "yml") {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", number + 1);
        if extension == "rs" && line != line.trim_end() {
            found.push(format!("{place}: white space at the end of the line"));
        }
        if ["/root/", "/home/"].iter().any(|folder| line.contains(folder))
            && !line.contains("// tidy: allow")
            && !file.to_string().starts_with("xtask/src/tidy")
        {
            found.push(format!("{place}: a path of one machine"));
        }
        let unfinished = ["todo!(", "unimplemented!(", "FIXME", "#[ignore"];
        if extension == "rs"
            && unfinished.iter().any(|mark| line.contains(mark))
            && !file.to_string().starts_with("xtask/src/tidy")
        {
            found.push(format!("{place}: unfinished"));
        }
    }
}
