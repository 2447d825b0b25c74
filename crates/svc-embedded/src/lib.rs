#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod database;
mod options;

mod binaries;
mod blocking;
mod cluster;
mod identity;
mod server;
mod spawn;
mod version;
mod wait;

mod error;

pub use binaries::Binaries;
pub use database::Database;
pub use error::{Error, Result};
pub use options::Options;
pub use server::free_port;
pub use version::Version;
