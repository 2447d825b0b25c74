//! The responses to limited requests: the headers that report limits, and refusals.

pub(super) mod headers;
mod refusal;

pub(super) use refusal::{REFUSED, Refusal};
