//! Explain: how each root field was answered, beside the answer.

mod hints;
mod hostile;
mod service;
mod sessions;
mod ways;
