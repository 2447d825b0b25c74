//! The orders of statistics.

use std::str::FromStr;

/// The statistic that statements are ordered by, highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum QueryStatsOrder {
    /// The total time of all calls: the load on the database.
    #[default]
    TotalExecTime,
    /// The mean time of a call.
    MeanExecTime,
    /// The number of calls.
    Calls,
    /// The share of blocks that were found in memory.
    CacheHitRatio,
}

impl QueryStatsOrder {
    const ALL: [Self; 4] = [
        Self::TotalExecTime,
        Self::MeanExecTime,
        Self::Calls,
        Self::CacheHitRatio,
    ];

    /// Returns the name, which is also the column's.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TotalExecTime => "total_exec_time",
            Self::MeanExecTime => "mean_exec_time",
            Self::Calls => "calls",
            Self::CacheHitRatio => "cache_hit_ratio",
        }
    }
}

impl FromStr for QueryStatsOrder {
    type Err = svc_core::Error;

    fn from_str(name: &str) -> Result<Self, svc_core::Error> {
        Self::ALL
            .into_iter()
            .find(|order| order.as_str() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::as_str).join(", ");
                let message = format!(
                    "`{}` is not an order of statistics; use one of {names}",
                    svc_core::exact_json::shorten(name)
                );
                svc_core::Error::new(svc_core::ErrorCode::BadUserInput, message)
            })
    }
}
