//! The answers that clients got, counted.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use svc::Environment;

/// The head of the table.
pub(crate) const HEAD: &str = "\
| fault | environment | answers | good | errors | empty, as away | longest, s | wrong | written twice | lost | well after, s |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// The outcome of a write, as its client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Done,
    NotDone,
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    good: usize,
    errors: usize,
    /// Lists that are empty in development, where a database that is away gives such.
    empty: usize,
    wrong: Vec<String>,
    longest: Duration,
    writes: HashMap<String, Told>,
    twice: usize,
    lost: usize,
    /// The time after the fault at which every place was there; `None` when never.
    pub(crate) recovered: Option<Duration>,
}

impl Tally {
    /// Counts an answer; of a write before the fault only what was told.
    pub(crate) fn count(
        &mut self,
        counts: bool,
        time: Duration,
        answer: &Value,
        expected: Option<&Value>,
        key: String,
        environment: Environment,
    ) {
        let error = &answer["errors"][0];
        if expected.is_none() {
            let told = match error["extensions"]["mutation"].as_str() {
                None if error.is_null() => Told::Done,
                Some("DONE") => Told::Done,
                Some("UNKNOWN") => Told::Unknown,
                _ => Told::NotDone,
            };
            self.writes.insert(key.clone(), told);
        }
        if !counts {
            return;
        }
        self.longest = self.longest.max(time);
        if error.is_null() {
            let data = &answer["data"];
            let is_empty =
                environment == Environment::Development && data["rows"] == Value::Array(Vec::new());
            match expected {
                Some(expected) if data == expected => self.good += 1,
                None if data["write"] == key.as_str() => self.good += 1,
                Some(_) if is_empty => self.empty += 1,
                _ => self.wrong.push(answer.to_string()),
            }
            return;
        }
        match error["extensions"]["code"].as_str() {
            Some("SERVICE_UNAVAILABLE" | "TIMEOUT") => self.errors += 1,
            Some("OUTCOME_UNKNOWN") if expected.is_none() => self.errors += 1,
            _ => self.wrong.push(answer.to_string()),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.good += other.good;
        self.errors += other.errors;
        self.empty += other.empty;
        self.wrong.extend(other.wrong);
        self.longest = self.longest.max(other.longest);
        self.writes.extend(other.writes);
    }

    /// Compares what was told with what is there.
    pub(crate) fn settle(&mut self, written: &HashMap<String, i64>) {
        self.twice = written.values().filter(|count| **count > 1).count();
        for (key, told) in &self.writes {
            let is_there = written.contains_key(key);
            match (told, is_there) {
                (Told::Done, false) => self.lost += 1,
                (Told::NotDone, true) => self.wrong.push(format!(
                    "{key} was written, and the client told that it was not"
                )),
                _ => {}
            }
        }
    }

    /// A row of the table.
    pub(crate) fn row(&self, name: &str, environment: Environment) -> String {
        let all = self.good + self.errors + self.empty + self.wrong.len();
        let part = 100.0 * self.good as f64 / all.max(1) as f64;
        let environment = if environment == Environment::Production {
            "production"
        } else {
            "development"
        };
        let well = self.recovered.map_or_else(
            || "never".to_owned(),
            |time| format!("{:.1}", time.as_secs_f64()),
        );
        format!(
            "| {name} | {environment} | {all} | {part:.2} % | {} | {} | {:.2} | {} | {} | {} | {well} |",
            self.errors,
            self.empty,
            self.longest.as_secs_f64(),
            self.wrong.len(),
            self.twice,
            self.lost
        )
    }

    /// Returns the faults that must not be.
    pub(crate) fn complaints(&self, longest: Duration) -> impl Iterator<Item = String> {
        let wrong = (!self.wrong.is_empty()).then(|| {
            let some = &self.wrong[..self.wrong.len().min(5)];
            format!(
                "{} wrong answers, such as\n    {}",
                self.wrong.len(),
                some.join("\n    ")
            )
        });
        let twice = (self.twice > 0).then(|| format!("{} writes were done twice", self.twice));
        let lost = (self.lost > 0).then(|| format!("{} writes were lost", self.lost));
        let late = (self.longest > longest).then(|| format!("a client waited {:?}", self.longest));
        let never = self
            .recovered
            .is_none()
            .then(|| "the places did not come back".to_owned());
        [wrong, twice, lost, late, never].into_iter().flatten()
    }
}
