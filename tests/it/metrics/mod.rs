//! Metrics: the series, what moves them, and where they are served.
//!
//! A process has one collector, so each test has a process of its own.

mod bounded;
mod load;
mod series;
mod served;
mod shop;
mod statistics;
mod ways;
mod with_metrics;
