//! The endpoint, the server and its connections.

mod caching;
mod connections;
mod embedding;
mod endpoint;
mod graphiql;
mod health;
mod hostile;
mod panics;
mod query_method;
mod refusals;
mod statuses;
mod unread_bodies;

pub(crate) use connections::steadily;
