//! Whether costs grow in a straight line.

use std::fmt;
use std::time::Duration;

use crate::measure::Cost;
use crate::{FIELDS, ROWS};

/// The most that a unit may cost at the end of the line, as a multiple of its cost at the
/// beginning. A cost of n log n is twice as much for each of 10,000 rows as for each of 100, and a
/// quadratic one a hundred times.
const BOUND: f64 = 1.5;

/// The cost of a further unit, and how it changes.
pub(crate) struct Verdict {
    /// The thing that is counted, and where.
    what: String,
    lines: Vec<Line>,
}

struct Line {
    name: &'static str,
    /// Nanoseconds of each unit, at growing numbers.
    units: Vec<(usize, f64)>,
}

impl Line {
    /// The dearest unit after the first, times the first.
    fn bend(&self) -> f64 {
        let first = self.units.first().map_or(1.0, |(_, unit)| *unit);
        self.units
            .iter()
            .skip(1)
            .map(|(_, unit)| unit / first)
            .fold(0.0, f64::max)
    }
}

type Part = (&'static str, fn(Cost) -> Duration);

const PARTS: [Part; 3] = [
    ("server", |cost| cost.server),
    ("PostgreSQL", |cost| cost.postgres),
    ("both", |cost| cost.total()),
];

/// The cost of each row beyond the first, with all fields, at 100 rows and more.
pub(crate) fn by_rows(costs: &[Vec<Cost>]) -> Verdict {
    let line = |(name, part): Part| {
        let at = |index: usize| {
            costs[index]
                .last()
                .map_or(0.0, |cost| nanoseconds(part(*cost)))
        };
        let unit = |index: usize| {
            (
                ROWS[index] as usize,
                (at(index) - at(0)) / f64::from(ROWS[index] - 1),
            )
        };
        Line {
            name,
            units: (2..ROWS.len()).map(unit).collect(),
        }
    };
    let last = FIELDS[FIELDS.len() - 1];
    Verdict {
        what: format!("a row of {last} fields, without what one row costs, at"),
        lines: PARTS.map(line).into(),
    }
}

/// The cost of each field in 1,000 rows, at 10 fields and more. The mixture of fields is the same
/// in each step.
pub(crate) fn by_fields(costs: &[Vec<Cost>]) -> Verdict {
    let rows = ROWS.len() - 2;
    let line = |(name, part): Part| {
        let at = |index: usize| nanoseconds(part(costs[rows][index]));
        let unit = |index: usize| {
            let further = FIELDS[index] - FIELDS[1];
            (
                FIELDS[index],
                (at(index) - at(1)) / further as f64 / f64::from(ROWS[rows]),
            )
        };
        Line {
            name,
            units: (2..FIELDS.len()).map(unit).collect(),
        }
    };
    let what = format!(
        "a field in each of {} rows, without what {} fields cost, at",
        ROWS[rows], FIELDS[1]
    );
    // PostgreSQL hardly spends more on further fields of a document: what is left is noise.
    Verdict {
        what,
        lines: PARTS
            .into_iter()
            .filter(|(name, _)| *name != "PostgreSQL")
            .map(line)
            .collect(),
    }
}

impl Verdict {
    /// Returns the lines that grow too fast.
    pub(crate) fn failed(&self) -> impl Iterator<Item = String> {
        let over = self.lines.iter().filter(|line| line.bend() > BOUND);
        over.map(|line| {
            format!(
                "{}: {} {:.2} times (at most {BOUND})",
                self.what,
                line.name,
                line.bend()
            )
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self
            .lines
            .first()
            .map(|line| &line.units)
            .into_iter()
            .flatten();
        let counts: Vec<String> = counts.map(|(count, _)| count.to_string()).collect();
        writeln!(
            f,
            "| ns for {} | {} | dearest, times the first |",
            self.what,
            counts.join(" | ")
        )?;
        write!(f, "|---|{}---:|", "---:|".repeat(counts.len()))?;
        for line in &self.lines {
            let units: Vec<String> = line
                .units
                .iter()
                .map(|(_, unit)| format!("{unit:.0}"))
                .collect();
            write!(
                f,
                "\n| {} | {} | {:.2} |",
                line.name,
                units.join(" | "),
                line.bend()
            )?;
        }
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
