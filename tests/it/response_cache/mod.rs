//! The response cache: who gets a kept answer, and until when.

mod changes;
mod context_values;
mod flights;
mod hits;
mod http;
mod principals;
mod races;
mod redis;
mod rules;
mod schema_changes;
mod service;
