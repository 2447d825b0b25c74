//! Subscriptions on their transports: WebSockets, server-sent events, multipart.

mod addresses;
mod bounds;
mod clients;
mod handshake;
mod identity;
mod many_events;
mod pool;
mod protocol;
mod renewal;
mod same_rules;
mod service;
mod shutdown;
mod streams;
mod wakes;
