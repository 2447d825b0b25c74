//! Row policies: which rows of a type a request may read, wherever they are read.

mod decisions;
mod evaluator;
mod interfaces;
mod random;
mod scoping;
mod service;
mod tenants;
