//! Authorization: which operations may run, on which rows, and which fields are answered.

mod acted_rows;
mod authorizer;
mod batch;
mod batch_methods;
mod cache;
mod cache_threads;
mod dry_run;
mod field_checks;
mod filtered_resolvers;
mod gated_fields;
mod grouped_relations;
mod guards;
mod matrix;
mod matrix_report;
mod open;
mod other_names;
mod own_authorizer;
mod planted;
mod principals;
mod regressions;
mod reused_plans;
mod row_filters;
mod row_policies;
mod service;
mod writes;
