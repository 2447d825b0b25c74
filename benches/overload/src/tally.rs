//! The answers that requests got.

use std::time::Duration;

/// The answer to a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// The time at which it was to be sent, since the load began.
    pub(crate) due: Duration,
    /// From then to the end of the answer.
    pub(crate) took: Duration,
    pub(crate) status: u16,
}

/// The answers that came of a time.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The times of those that were admitted, sorted.
    admitted: Vec<Duration>,
    /// The times of those that were refused as too many, sorted.
    shed: Vec<Duration>,
    /// All other answers.
    pub(crate) others: usize,
    time: Duration,
}

impl Tally {
    /// Counts the answers that were due between two times.
    pub(crate) fn of(answers: &[Answer], from: Duration, to: Duration) -> Self {
        let asked = || {
            answers
                .iter()
                .filter(|answer| (from..to).contains(&answer.due))
        };
        let times = |status| {
            let mut times: Vec<_> = asked()
                .filter(|answer| answer.status == status)
                .map(|answer| answer.took)
                .collect();
            times.sort_unstable();
            times
        };
        let (admitted, shed) = (times(200), times(503));
        let others = asked().count() - admitted.len() - shed.len();
        Self {
            admitted,
            shed,
            others,
            time: to - from,
        }
    }

    /// Those that were answered, in a second.
    pub(crate) fn goodput(&self) -> f64 {
        self.admitted.len() as f64 / self.time.as_secs_f64()
    }

    /// Those that were refused, in a second.
    pub(crate) fn refused(&self) -> f64 {
        self.shed.len() as f64 / self.time.as_secs_f64()
    }

    /// The time within which a part of those that were answered was.
    pub(crate) fn admitted(&self, part: f64) -> Duration {
        percentile(&self.admitted, part)
    }

    /// The time within which a part of those that were refused was.
    pub(crate) fn shed(&self, part: f64) -> Duration {
        percentile(&self.shed, part)
    }
}

fn percentile(sorted: &[Duration], part: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get(((sorted.len() as f64 * part) as usize).min(last))
        .copied()
        .unwrap_or_default()
}
