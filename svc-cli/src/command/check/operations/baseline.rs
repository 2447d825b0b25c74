//! The file with the costs of registered operations at an earlier time.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::code::Code;
use super::lint::Found;
use crate::failure::{Failure, Result};
use crate::program::Operation;
use crate::project::Project;

/// The usual name of the file.
pub(super) const FILE: &str = "svc.operations.json";

/// The format of the file; other formats are rejected.
const FORMAT: u32 = 1;

/// The costs of operations, in the order of their names.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Baseline {
    format: u32,
    operations: Vec<Entry>,
}

/// The cost of an operation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    name: Option<String>,
    /// The SHA-256 of the text, in hexadecimal digits.
    hash: String,
    depth: u64,
    cost: u64,
}

impl Baseline {
    /// The costs of these operations.
    pub(super) fn of(operations: &[Operation]) -> Self {
        let entries = operations.iter().map(|operation| Entry {
            name: operation.name.clone(),
            hash: operation.hash.clone(),
            depth: operation.depth,
            cost: operation.cost,
        });

        let mut operations: Vec<_> = entries.collect();
        operations.sort_unstable();

        Self {
            format: FORMAT,
            operations,
        }
    }

    /// Reads the file.
    pub(super) fn read(project: &Project, path: &Path) -> Result<Self> {
        let shown = path.display();
        let hint = "write it: svc check --update-operations";
        let text = fs::read_to_string(project.root().join(path))
            .map_err(|error| Failure::new(format!("cannot read {shown}: {error}")).hint(hint))?;
        let bad = |why: String| Failure::new(format!("{shown} cannot be used: {why}")).hint(hint);

        let baseline: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if baseline.format != FORMAT {
            return Err(bad("another version of svc wrote it".to_owned()));
        }

        Ok(baseline)
    }

    /// Writes the file.
    pub(super) fn write(&self, project: &Project, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::new(format!("the costs cannot be written: {error}")))?;
        fs::write(project.root().join(path), text + "\n")
            .map_err(Failure::io(format!("write {}", path.display())))
    }

    /// The number of these operations without an entry.
    pub(super) fn count_new(&self, operations: &[Operation]) -> usize {
        operations
            .iter()
            .filter(|operation| self.entry(operation).is_none())
            .count()
    }

    /// The finding about an operation whose cost has grown by more than this percentage.
    pub(super) fn growth(&self, operation: &Operation, most: u64) -> Option<Found> {
        let before = self.entry(operation)?;
        if !has_grown(before.cost, operation.cost, most) {
            return None;
        }

        let (then, now) = (before.cost, operation.cost);
        let problem = if before.depth == operation.depth {
            format!("its cost has grown from {then} to {now}, by more than {most} %")
        } else {
            format!(
                "its cost has grown from {then} to {now}, by more than {most} %, and its depth from {} to {}",
                before.depth, operation.depth
            )
        };

        Some(Found::failure(
            Code::CostGrowth,
            operation,
            operation.line,
            &problem,
            "select less, or accept the new cost: svc check --update-operations",
        ))
    }

    /// The entry of an operation: with the same text, or the only one with the same name.
    fn entry(&self, operation: &Operation) -> Option<&Entry> {
        let same = self
            .operations
            .iter()
            .find(|entry| entry.hash == operation.hash);
        if same.is_some() {
            return same;
        }

        let name = operation.name.as_ref()?;
        let mut named = self
            .operations
            .iter()
            .filter(|entry| entry.name.as_ref() == Some(name));

        // Manifests of several clients may have different operations with the same name.
        named.next().filter(|_| named.next().is_none())
    }
}

/// Whether a cost is higher by more than this percentage.
fn has_grown(before: u64, now: u64, most: u64) -> bool {
    let bound = u128::from(before).saturating_mul(100 + u128::from(most));
    u128::from(now) * 100 > bound
}

#[cfg(test)]
mod tests {
    use super::has_grown;

    #[test]
    fn a_cost_has_grown_above_the_percentage() {
        assert!(!has_grown(100, 120, 20));
        assert!(has_grown(100, 121, 20));
        assert!(has_grown(100, 101, 0));
        assert!(!has_grown(100, 50, 0));
        assert!(has_grown(0, 1, 100));
        assert!(!has_grown(u64::MAX, u64::MAX, u64::MAX));
    }
}
