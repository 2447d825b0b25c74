//! Row policies: which rows of a type a request may read, wherever they are read, and which values
//! of theirs.

mod decisions;
mod evaluator;
mod event_oracle;
mod failing_columns;
mod interfaces;
mod masks;
mod oracle;
mod random;
mod random_masks;
mod scoping;
mod service;
mod tenants;
mod twins;
