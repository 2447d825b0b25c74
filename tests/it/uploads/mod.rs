//! Files that clients send with mutations.

mod bounds;
mod clients;
mod files;
mod service;
