//! Records of checks that have passed: the digest of a check's inputs, committed beside this
//! program.
//!
//! A check that takes minutes runs in CI only if its inputs differ from the record.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

const FOLDER: &str = "xtask/passed";

/// The digest of the inputs of a check.
#[derive(Debug, Default)]
pub(crate) struct Inputs(Sha256);

impl Inputs {
    /// Adds a text. Its length separates it from the next one.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.update(text.len().to_le_bytes());
        self.0.update(text);
    }

    /// Adds the text of a file.
    pub(crate) fn add_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        self.add(&text);
        Ok(())
    }

    fn hex(self) -> Result<String> {
        let mut hex = String::new();
        for byte in self.0.finalize() {
            write!(hex, "{byte:02x}")?;
        }
        Ok(hex)
    }
}

/// Whether the check has passed on these inputs, by its record.
pub(crate) fn has_passed(check: &str, inputs: Inputs) -> Result<bool> {
    let recorded = std::fs::read_to_string(record(check)).unwrap_or_default();
    Ok(recorded.trim_end() == inputs.hex()?)
}

/// Records that the check has passed on these inputs.
pub(crate) fn write(check: &str, inputs: Inputs) -> Result<()> {
    let path = record(check);
    std::fs::create_dir_all(FOLDER).with_context(|| format!("cannot make {FOLDER}"))?;
    let text = inputs.hex()? + "\n";
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn record(check: &str) -> PathBuf {
    Path::new(FOLDER).join(check)
}

#[cfg(test)]
mod tests {
    use super::Inputs;

    fn digest(texts: &[&str]) -> String {
        let mut inputs = Inputs::default();
        texts.iter().for_each(|text| inputs.add(text));
        inputs.hex().unwrap()
    }

    #[test]
    fn inputs_differ_by_each_text() {
        assert_eq!(digest(&["a", "b"]), digest(&["a", "b"]));
        assert_ne!(digest(&["a", "b"]), digest(&["ab"]));
        assert_ne!(digest(&["a", "b"]), digest(&["b", "a"]));
    }
}
