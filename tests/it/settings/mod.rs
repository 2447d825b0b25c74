//! Settings that are given: whether they have an effect, how they are written, and what is said of
//! those that have none.

mod lists;
mod start;
mod unused;
