//! Mutations through functions of the database.

mod arguments;
mod bad_entities;
mod changed_types;
mod contention;
mod effects;
mod failures;
mod lists;
mod own_sql;
mod raised;
mod resolvers;
mod results;
mod rollback;
mod schema;
mod sent_once;
mod start;
mod tables;
mod value_rules;
