//! Traces: the spans of requests, as a receiver of OTLP gets them.
//!
//! A process has one provider of spans, so each test has a process of its own.

mod comments;
mod context;
mod documents;
mod exemplars;
mod receiver;
mod sent;
mod settings;
mod shop;
mod sockets;
mod steps;
mod variables;
mod zipkin;
