//! The places where the parts to come meet the engine: request data, extensions, hooks.

mod request;
mod request_data;
