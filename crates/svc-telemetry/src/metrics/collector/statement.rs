//! The series of statements.

use std::sync::OnceLock;
use std::time::Instant;

use super::Metrics;
use super::family::OTHER;
use super::histogram::Histogram;

/// The slot in a statement that caches its series. It is ignored when statements are compared.
#[derive(Debug, Default)]
pub struct StatementSlot(OnceLock<&'static Histogram>);

impl PartialEq for StatementSlot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for StatementSlot {}

/// A running statement. It is counted when it is dropped.
#[derive(Debug)]
pub struct RunningStatement {
    series: &'static Histogram,
    began: Instant,
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        self.series.observe(self.began.elapsed());
    }
}

impl Metrics {
    /// Starts a statement.
    #[doc(hidden)]
    pub fn statement(
        self,
        slot: &StatementSlot,
        kind: &'static str,
        table: &str,
    ) -> RunningStatement {
        let get = || {
            self.0
                .statements
                // svc chooses the kind, so only the table is folded.
                .get([kind, table], [kind, OTHER], |_| Histogram::default())
        };

        RunningStatement {
            series: slot.0.get_or_init(get),
            began: Instant::now(),
        }
    }
}
