//! Values: one form for each, with all its digits, on every way in and out.

mod column_names;
mod dates;
mod day_ends;
mod exact_numbers;
mod hostile_strings;
mod json_lists;
mod numbers;
mod own_scalars;
mod padded_texts;
mod reals;
mod refused;
mod scalars;
mod unsigned;
mod uuid_texts;
