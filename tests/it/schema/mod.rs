//! The schema: names, and mistakes that are said at the start.

mod companion_names;
mod errors;
mod names;
mod one_of;
mod semantic_errors;
mod semantic_non_null;
