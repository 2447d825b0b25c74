//! Filters: what each operator means, on views with columns, with `data` only, and on `tv_` tables.

mod broken_texts;
mod collations;
mod conditions;
mod evaluator;
mod fields;
mod generator;
mod pattern_errors;
mod rows;
mod run;
mod scalars;
mod search;
mod shrink;
mod text_scalars;
mod types;
mod values;
