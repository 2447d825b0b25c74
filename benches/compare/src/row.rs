//! A row of the table of CPU times.

use std::fmt;

use testbed::{Cost, median};

use crate::change::Change;

/// The costs of a workload, and their changes.
#[derive(Debug)]
pub(crate) struct Row {
    workload: String,
    /// Milliseconds of a request to each server: in all, of the server, of PostgreSQL.
    costs: [[f64; 3]; 2],
    server: Change,
    total: Change,
}

impl Row {
    /// The row of a workload with these rounds.
    pub(crate) fn of(workload: &str, rounds: &[[Cost; 2]]) -> Self {
        let part = |part: fn(Cost) -> f64| -> Vec<[f64; 2]> {
            rounds.iter().map(|costs| costs.map(part)).collect()
        };
        let total = part(Cost::total);
        let server = part(|cost| cost.server.as_secs_f64());
        let postgres = part(|cost| cost.database.as_secs_f64());

        let middle = |rounds: &[[f64; 2]], index: usize| {
            median(rounds.iter().map(|costs| costs[index] * 1_000.0))
        };
        let costs = [0, 1].map(|index| {
            [
                middle(&total, index),
                middle(&server, index),
                middle(&postgres, index),
            ]
        });
        Self {
            workload: workload.to_owned(),
            costs,
            server: Change::within(&server),
            total: Change::within(&total),
        }
    }

    /// The costs whose changes are above a bound.
    pub(crate) fn above(&self, bound: Option<f64>) -> Vec<String> {
        let Some(bound) = bound else {
            return Vec::new();
        };
        let changes = [
            ("the server", self.server),
            ("server and PostgreSQL", self.total),
        ];
        changes
            .into_iter()
            .filter(|(_, change)| change.exceeds(bound))
            .map(|(part, change)| {
                format!(
                    "{}, CPU time of {part}: {change}, above {bound} %",
                    self.workload
                )
            })
            .collect()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.costs.map(|[total, server, postgres]| {
            format!("**{total:.4}** ({server:.4} + {postgres:.4})")
        });
        let Self {
            workload,
            server,
            total,
            ..
        } = self;
        write!(
            f,
            "| {workload} | {first} | {second} | {server} | {total} |"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use testbed::Cost;

    use super::Row;

    /// A cost of microseconds.
    fn cost(server: u64, database: u64) -> Cost {
        Cost {
            server: Duration::from_micros(server),
            database: Duration::from_micros(database),
        }
    }

    #[test]
    fn a_row_shows_medians_and_changes() {
        let rounds = [[cost(100, 100), cost(120, 100)]; 9];
        let row = Row::of("Q1", &rounds);

        let shown = row
            .costs
            .map(|costs| costs.map(|cost| format!("{cost:.3}")));
        assert_eq!(
            shown,
            [["0.200", "0.100", "0.100"], ["0.220", "0.120", "0.100"]]
        );
        assert_eq!(row.server.to_string(), "+20.0 % (+20.0 to +20.0)");
        assert_eq!(row.total.to_string(), "+10.0 % (+10.0 to +10.0)");
    }

    #[test]
    fn only_changes_above_the_bound_are_named() {
        let row = Row::of("Q1", &[[cost(100, 100), cost(120, 100)]; 9]);

        assert_eq!(row.above(None), [""; 0]);
        assert_eq!(row.above(Some(25.0)), [""; 0]);
        assert_eq!(
            row.above(Some(15.0)),
            ["Q1, CPU time of the server: +20.0 % (+20.0 to +20.0), above 15 %"]
        );
        assert_eq!(row.above(Some(5.0)).len(), 2);
    }
}
