//! The recorded counts, in `recorded.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::counter::Counts;
use crate::measure::Counted;

/// The counts of each request in a debug build.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    counts: BTreeMap<String, Counts>,
    /// The counts that were raised, the first one first.
    raised: Vec<Raise>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Raise {
    request: String,
    from: Counts,
    to: Counts,
    reason: String,
}

impl Record {
    /// Reads the file.
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(path()).expect("the record");
        serde_json::from_str(&text).expect("a record")
    }

    /// Returns a line for each request whose count differs from its record. A count below its
    /// record is a difference too, so that the record follows each improvement.
    pub(crate) fn differences(&self, counted: &[Counted]) -> Vec<String> {
        let differing = counted
            .iter()
            .filter_map(|counted| difference(counted, self.counts.get(counted.name).copied()));
        let is_counted = |name: &str| counted.iter().any(|counted| counted.name == name);
        let uncounted = self.counts.keys().filter(|name| !is_counted(name));

        differing
            .chain(uncounted.map(|name| format!("{name}: recorded, but not counted")))
            .collect()
    }

    /// Replaces the counts, and keeps the reason of each that is above its record.
    ///
    /// # Errors
    /// A line about the count that is above its record if there is no reason.
    pub(crate) fn replace(
        &mut self,
        counted: &[Counted],
        reason: Option<&str>,
    ) -> Result<(), String> {
        let mut raised = Vec::new();
        for Counted { name, counts } in counted {
            let from = self.counts.get(*name).copied();
            let Some(from) = from.filter(|from| counts.exceed(*from)) else {
                continue;
            };
            let reason = reason.filter(|reason| !reason.trim().is_empty());
            let reason = reason.ok_or_else(|| {
                let variable = crate::REASON;
                format!("{name}: {counts}; above the recorded {from}: set {variable} to the reason")
            })?;
            raised.push(Raise {
                request: (*name).to_owned(),
                from,
                to: *counts,
                reason: reason.to_owned(),
            });
        }

        self.raised.extend(raised);
        self.counts = counted
            .iter()
            .map(|counted| (counted.name.to_owned(), counted.counts))
            .collect();

        Ok(())
    }

    /// Writes the file.
    pub(crate) fn write(&self) {
        let mut text = serde_json::to_string_pretty(self).expect("JSON");
        text.push('\n');
        fs::write(path(), text).expect("a record that can be written");
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("allocations/recorded.json")
}

fn difference(counted: &Counted, recorded: Option<Counts>) -> Option<String> {
    let Counted { name, counts } = counted;
    let Some(recorded) = recorded else {
        return Some(format!("{name}: {counts}; not recorded"));
    };

    if counts.exceed(recorded) {
        return Some(format!("{name}: {counts}; above the recorded {recorded}"));
    }
    if recorded.exceed(*counts) {
        return Some(format!(
            "{name}: {counts}; below the recorded {recorded}: lower the record"
        ));
    }

    None
}

#[cfg(test)]
mod tests {
    use super::{Counted, Counts, Record};

    fn counted(allocations: u64, reallocations: u64) -> [Counted; 1] {
        let counts = Counts {
            allocations,
            reallocations,
            bytes: 0,
        };
        [Counted {
            name: "a row",
            counts,
        }]
    }

    fn record() -> Record {
        let mut record = Record::default();
        record.replace(&counted(10, 2), None).expect("no raise");
        record
    }

    #[test]
    fn a_count_other_than_its_record_is_a_difference() {
        for (allocations, reallocations, expected) in [
            (11, 2, "above"),
            (10, 3, "above"),
            (9, 3, "above"),
            (9, 2, "below"),
            (10, 1, "below"),
        ] {
            let differences = record().differences(&counted(allocations, reallocations));
            assert_eq!(differences.len(), 1, "{differences:?}");
            assert!(differences[0].contains(expected), "{differences:?}");
        }

        assert_eq!(record().differences(&counted(10, 2)), [""; 0]);
    }

    #[test]
    fn requests_and_records_without_each_other_are_differences() {
        let none = Record::default();
        assert_eq!(
            none.differences(&counted(10, 2)),
            ["a row: 10 allocations, 2 reallocations; not recorded"]
        );
        assert_eq!(
            record().differences(&[]),
            ["a row: recorded, but not counted"]
        );
    }

    #[test]
    fn a_count_is_lowered_without_a_reason() {
        let mut record = record();
        record.replace(&counted(9, 2), None).expect("no raise");
        assert_eq!(record.differences(&counted(9, 2)), [""; 0]);
        assert!(record.raised.is_empty());
    }

    #[test]
    fn a_count_is_raised_with_a_reason_alone() {
        let mut record = record();
        for reason in [None, Some(""), Some(" ")] {
            let refused = record.replace(&counted(11, 2), reason);
            assert!(refused.is_err_and(|refused| refused.ends_with("to the reason")));
        }
        assert_eq!(record.differences(&counted(10, 2)), [""; 0]);

        let reason = Some("an identifier for each request");
        record.replace(&counted(11, 2), reason).expect("a reason");
        assert_eq!(record.differences(&counted(11, 2)), [""; 0]);
        let raised = &record.raised[0];
        assert_eq!((raised.from.allocations, raised.to.allocations), (10, 11));
        assert_eq!(raised.reason, "an identifier for each request");
    }
}
