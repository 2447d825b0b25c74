//! The change of a cost from the first revision to the second, in percent.

use std::fmt;

use testbed::{interval, median};

/// The median of the changes within each round, and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    median: f64,
    low: f64,
    high: f64,
}

impl Change {
    /// The change between the two costs of each round.
    pub(crate) fn within(rounds: &[[f64; 2]]) -> Self {
        let changes = || {
            rounds
                .iter()
                .map(|[first, second]| percent(*first, *second))
        };
        let (low, high) = interval(changes());
        Self {
            median: median(changes()),
            low,
            high,
        }
    }

    /// Whether the whole interval is above a bound.
    pub(crate) fn exceeds(self, bound: f64) -> bool {
        self.low > bound
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, low, high } = self;
        write!(f, "{median:+.1} % ({low:+.1} to {high:+.1})")
    }
}

/// The change from one cost to another.
pub(crate) fn percent(first: f64, second: f64) -> f64 {
    (second / first - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::Change;

    /// Nine rounds on a machine whose other load changes the cost, but not the ratio.
    fn rounds(ratio: f64) -> Vec<[f64; 2]> {
        (1..=9)
            .map(|round| [f64::from(round), f64::from(round) * ratio])
            .collect()
    }

    #[test]
    fn costs_are_compared_within_each_round() {
        let change = Change::within(&rounds(1.25));

        assert_eq!(change.to_string(), "+25.0 % (+25.0 to +25.0)");
        assert!(change.exceeds(24.9) && !change.exceeds(25.0));
    }

    #[test]
    fn a_single_bad_round_exceeds_no_bound() {
        let mut rounds = rounds(1.0);
        rounds[4] = [1.0, 3.0];
        let change = Change::within(&rounds);

        assert_eq!(change.to_string(), "+0.0 % (+0.0 to +0.0)");
        assert!(!change.exceeds(0.0));
    }
}
