//! The orders of statistics.

use std::str::FromStr;

/// The number by which statements are ordered, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum QueryStatsOrder {
    /// The time of all calls together: what costs the database the most.
    #[default]
    TotalExecTime,
    /// The time of a call.
    MeanExecTime,
    /// The number of calls.
    Calls,
    /// The part of the blocks that were in memory.
    CacheHitRatio,
}

impl QueryStatsOrder {
    const ALL: [Self; 4] = [Self::TotalExecTime, Self::MeanExecTime, Self::Calls, Self::CacheHitRatio];

    /// The name, which is that of the column.
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
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, crate::Error> {
        Self::ALL.into_iter().find(|order| order.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            let message = format!("`{}` is not an order of statistics; use one of {names}", crate::json::shorten(name));
            crate::Error::new(crate::ErrorCode::BadUserInput, message)
        })
    }
}
