//! Titles of commits.

use std::process::Command;

use anyhow::Result;

/// As long as lists of commits show them.
const MAX_LETTERS: usize = 72;

/// On the main branch itself, this many commits are looked at.
const ON_MAIN: &str = "-20";

/// The titles that are too long, of the commits that are not on the main branch yet.
pub(crate) fn check() -> Result<Vec<String>> {
    let Some(head) = git(&["rev-parse", "HEAD"])? else { return Ok(Vec::new()) };
    let mut range = ON_MAIN.to_owned();
    for main in ["origin/main", "main"] {
        match git(&["merge-base", main, "HEAD"])? {
            Some(base) if base != head => range = format!("{base}..HEAD"),
            _ => continue,
        }
        break;
    }
    let titles = git(&["log", "--no-merges", "--format=%h %s", &range])?.unwrap_or_default();
    Ok(titles.lines().filter_map(|line| line.split_once(' ')).filter_map(too_long).collect())
}

fn too_long((commit, title): (&str, &str)) -> Option<String> {
    let letters = title.chars().count();
    (letters > MAX_LETTERS)
        .then(|| format!("commit {commit}: a title of {letters} letters, more than {MAX_LETTERS}: {title}"))
}

/// The output of git; `None` where it fails, as outside of a repository.
fn git(arguments: &[&str]) -> Result<Option<String>> {
    let output = Command::new("git").args(arguments).output()?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::too_long;

    #[test]
    fn titles_have_72_letters() {
        assert_eq!(too_long(("abc", &"é".repeat(72))), None);
        assert!(too_long(("abc", &"é".repeat(73))).is_some());
    }
}
