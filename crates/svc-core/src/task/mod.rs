//! Futures and wakes of tasks.

pub mod boxed;
pub mod wake_flag;
