//! Subscriptions: streams of answers, without a socket.

mod backlog;
mod bodies;
mod bulk;
mod channels;
mod documents;
mod listening;
mod policies;
mod rows;
mod service;
mod silent_channels;
mod sources;
mod together;
