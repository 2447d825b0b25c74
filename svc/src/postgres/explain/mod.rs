//! Explanations: what PostgreSQL says of the statements of a request.
//!
//! A [`Recorder`](super::Recorder) has noted the statements. [`Database::explain`](super::Database::explain) has PostgreSQL
//! plan them once more on a connection of its own, and `hints/` looks in the plans for filters and orders that no index
//! helps.

mod explainer;
mod hints;

pub(crate) use explainer::Explained;
