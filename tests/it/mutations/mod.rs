//! Mutations through functions of the database.

mod arguments;
mod bad_entities;
mod changed_types;
mod contention;
mod default_conflicts;
mod effects;
mod failures;
mod hidden_rows;
mod lists;
mod nested;
mod nested_misfits;
mod nested_trees;
mod own_sql;
mod raised;
mod resolvers;
mod results;
mod rollback;
mod round_trips;
mod schema;
mod sent_once;
mod start;
mod table_misfits;
mod tables;
mod uneven_lists;
mod upserts;
mod value_rules;
