//! Rate limits: the clients that are counted, the requests that pass, and the refusals.

mod as_option;
mod batches;
mod budget;
mod bypasses;
mod clients;
mod exact;
mod headers;
mod operations;
mod paths;
mod redis;
mod root_fields;
mod service;
mod sockets;
mod start;
mod streams;
