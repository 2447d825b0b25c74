//! Mutations through functions of the database.

mod arguments;
mod failures;
mod resolvers;
mod results;
mod schema;
mod start;
