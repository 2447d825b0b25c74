//! Vendored assets: files that are built from others, and committed.
//!
//! `vendored.sha256` has the sums of both, and is written with the assets (`npm run build` in
//! `xtask/graphiql`). So neither can change without the other, and nobody needs Node to see it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

const SUMS: &str = "xtask/graphiql/vendored.sha256";

/// The inputs and outputs of the build.
const FOLDERS: [&str; 3] = [
    "svc/assets/graphiql",
    "xtask/graphiql",
    "xtask/graphiql/src",
];

/// Files of those folders that change nothing.
const OTHERS: [&str; 3] = ["README.md", ".npmrc", "vendored.sha256"];

/// The files that are not as the sums say.
pub(crate) fn check() -> Result<Vec<String>> {
    let sums = std::fs::read_to_string(SUMS).with_context(|| format!("cannot read {SUMS}"))?;
    Ok(differences(&sums, &present()?))
}

fn differences(sums: &str, present: &[(String, String)]) -> Vec<String> {
    let recorded: Vec<(&str, &str)> = sums
        .lines()
        .filter_map(|line| line.split_once("  "))
        .collect();
    let same = |sum: &str, path: &str| present.iter().any(|(is, file)| is == sum && file == path);
    let listed = |file: &str| recorded.iter().any(|(_, path)| *path == file);
    let changed = recorded.iter().filter(|(sum, path)| !same(sum, path));
    let changed =
        changed.map(|(_, path)| format!("{path}: not as it was when the assets were built"));
    let new = present
        .iter()
        .filter(|(_, file)| !listed(file))
        .map(|(_, file)| format!("{file}: not in {SUMS}"));

    changed
        .chain(new)
        .map(|place| format!("{place}; run `npm run build` in xtask/graphiql"))
        .collect()
}

/// The sum and path of each file.
fn present() -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {folder}"))? {
            let path = entry?.path();
            if path.is_file() && !OTHERS.iter().any(|other| path.ends_with(other)) {
                files.push((sum(&path)?, path.display().to_string()));
            }
        }
    }

    Ok(files)
}

fn sum(path: &PathBuf) -> Result<String> {
    let bytes = std::fs::read(Path::new(path))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut sum = String::new();
    for byte in Sha256::digest(&bytes) {
        write!(sum, "{byte:02x}")?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn a_change_on_either_side_is_found() {
        let present =
            [("11", "a.js"), ("22", "b.js")].map(|(sum, file)| (sum.to_owned(), file.to_owned()));
        assert!(differences("11  a.js\n22  b.js\n", &present).is_empty());
        assert_eq!(differences("11  a.js\n23  b.js\n", &present).len(), 1);
        assert_eq!(differences("11  a.js\n", &present).len(), 1);

        assert_eq!(
            differences("11  a.js\n22  b.js\n33  c.js\n", &present).len(),
            1
        );
    }
}
