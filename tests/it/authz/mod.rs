//! Authorization: which operations may run, on which rows, and which fields are answered.

mod authorizer;
mod cache;
mod cache_threads;
mod dry_run;
mod field_checks;
mod gated_fields;
mod guards;
mod matrix;
mod open;
mod own_authorizer;
mod principals;
mod regressions;
mod row_filters;
mod row_policies;
mod service;
