//! Titles of commits.

use std::process::Command;

use anyhow::Result;

/// As long as lists of commits show them.
const MAX_LETTERS: usize = 72;

/// The last commit whose title is not looked at on the main branch while there is no release.
const BEFORE_THE_FIRST_RELEASE: &str = "e098cfb2f0d50ad991ecba1043244e08fccc4c64";

/// Returns the titles that are too long, of the branch's own commits; on the main branch, of those
/// since the last release.
pub(crate) fn check() -> Result<Vec<String>> {
    let Some(base) = base()? else {
        return Ok(Vec::new());
    };

    let titles = git(&[
        "log",
        "--no-merges",
        "--format=%h %s",
        &format!("{base}..HEAD"),
    ])?
    .unwrap_or_default();

    Ok(titles
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(too_long)
        .collect())
}

/// The commit after which titles are looked at, so that an old title never fails a new change.
fn base() -> Result<Option<String>> {
    let Some(head) = git(&["rev-parse", "HEAD"])? else {
        return Ok(None);
    };

    for main in ["origin/main", "main"] {
        match git(&["merge-base", main, "HEAD"])? {
            Some(base) if base != head => return Ok(Some(base)),
            _ => {}
        }
    }

    if let Some(release) = git(&["describe", "--tags", "--abbrev=0", "--match", "v*"])? {
        return Ok(Some(release));
    }

    let is_ancestor = git(&[
        "merge-base",
        "--is-ancestor",
        BEFORE_THE_FIRST_RELEASE,
        "HEAD",
    ])?
    .is_some();

    Ok(is_ancestor.then(|| BEFORE_THE_FIRST_RELEASE.to_owned()))
}

fn too_long((commit, title): (&str, &str)) -> Option<String> {
    let letters = title.chars().count();
    (letters > MAX_LETTERS).then(|| {
        format!("commit {commit}: a title of {letters} letters, more than {MAX_LETTERS}: {title}")
    })
}

/// The output of git; `None` where it fails, as outside of a repository.
fn git(arguments: &[&str]) -> Result<Option<String>> {
    let output = Command::new("git").args(arguments).output()?;
    Ok(output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
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
