//! Explanations: PostgreSQL's plans for the statements of a request.
//!
//! A [`Recorder`](super::Recorder) has recorded the statements.
//! [`Database::explain`](super::Database::explain) makes PostgreSQL plan them once more on a
//! dedicated connection, and `hints/` searches the plans for filters and orders without a suitable
//! index.

mod explainer;
mod hints;

pub use explainer::Explained;
