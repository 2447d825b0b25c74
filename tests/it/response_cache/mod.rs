//! The response cache: the requests that get a cached response, and its lifetime.

mod changes;
mod context_values;
mod flights;
mod hits;
mod http;
mod literals;
mod on_error;
mod principals;
mod races;
mod redis;
mod rules;
mod schema_changes;
mod service;
