//! The report of a matrix, as text, Markdown and JSON.

use std::fmt;

use serde_json::{Value, json};

use super::coverage::{Coverage, Covered};
use super::verdict::Verdict;

/// The report of a matrix: the access of each principal, the transports that disagree, and the
/// rules of operations and fields. Its `Display` output is text.
#[derive(Debug, Clone)]
pub struct MatrixReport {
    principals: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) problems: Vec<String>,
    coverage: Coverage,
}

/// The verdicts for one operation or field, in the order of the principals.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) coordinate: String,
    pub(super) verdicts: Vec<Verdict>,
}

impl MatrixReport {
    pub(super) fn new(principals: impl Iterator<Item = String>, coverage: Coverage) -> Self {
        Self {
            principals: principals.collect(),
            rows: Vec::new(),
            problems: Vec::new(),
            coverage,
        }
    }

    /// Returns the problems: transports that disagree about a case, and cases that no transport
    /// ran.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the rules of each operation and field.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Returns the verdict of a case, by its coordinate, for a principal.
    pub fn verdict(&self, coordinate: &str, principal: &str) -> Option<&Verdict> {
        let column = self
            .principals
            .iter()
            .position(|known| known == principal)?;
        self.rows
            .iter()
            .find(|row| row.coordinate == coordinate)?
            .verdicts
            .get(column)
    }

    /// Returns the report as JSON.
    pub fn to_json(&self) -> Value {
        let verdict = |(principal, verdict): (&String, &Verdict)| {
            let codes: Vec<_> = verdict.codes().collect();
            (
                principal.clone(),
                json!({ "verdict": verdict.as_str(), "codes": codes }),
            )
        };

        let row = |row: &Row| {
            let verdicts: serde_json::Map<_, _> = self
                .principals
                .iter()
                .zip(&row.verdicts)
                .map(verdict)
                .collect();
            json!({ "coordinate": row.coordinate, "principals": verdicts })
        };

        let covered = |covered: &Covered| {
            let Covered {
                coordinate,
                rules,
                is_tested,
            } = covered;
            json!({ "coordinate": coordinate, "rules": rules, "isTested": is_tested })
        };

        json!({
            "cases": self.rows.iter().map(row).collect::<Vec<_>>(),
            "problems": self.problems,
            "coverage": self.coverage.all().iter().map(covered).collect::<Vec<_>>(),
        })
    }

    /// Returns the report in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = self
            .tables()
            .iter()
            .map(Table::to_markdown)
            .collect::<Vec<_>>()
            .join("\n");

        for problem in &self.problems {
            text.push_str(&format!("\n- {problem}\n"));
        }

        text
    }

    /// Returns the tables of the verdicts and of the rules.
    fn tables(&self) -> [Table; 2] {
        let head = std::iter::once("Case".to_owned())
            .chain(self.principals.iter().cloned())
            .collect();
        let cells = |row: &Row| {
            let verdicts = row.verdicts.iter().map(ToString::to_string);
            std::iter::once(row.coordinate.clone())
                .chain(verdicts)
                .collect()
        };

        let verdicts = Table {
            head,
            rows: self.rows.iter().map(cells).collect(),
        };

        let head = ["Operation or field", "Rules", "Tested"]
            .map(str::to_owned)
            .into();
        let cells = |covered: &Covered| {
            let rules = if covered.rules.is_empty() {
                "open".to_owned()
            } else {
                covered.rules.join(" ")
            };
            vec![
                covered.coordinate.clone(),
                rules,
                if covered.is_tested { "yes" } else { "no" }.to_owned(),
            ]
        };

        [
            verdicts,
            Table {
                head,
                rows: self.coverage.all().iter().map(cells).collect(),
            },
        ]
    }
}

impl fmt::Display for MatrixReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [verdicts, coverage] = self.tables();
        write!(f, "{verdicts}\n{coverage}")?;
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n{problem}\n"))
    }
}

struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };

        let rule = format!("|{}\n", "---|".repeat(self.head.len()));
        let rows = self.rows.iter().map(|row| line(row));
        std::iter::once(line(&self.head))
            .chain([rule])
            .chain(rows)
            .collect()
    }
}

/// Columns of equal width.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };

        let widths: Vec<_> = (0..self.head.len()).map(width).collect();
        for line in lines() {
            let cells = line
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}", width = *width));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }

        Ok(())
    }
}
