#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod database;
mod options;

mod binaries;
mod cluster;
mod identity;
mod launch;
mod layout;
mod lock;
mod log;
mod pidfile;
mod port;
mod quote;
mod role;
mod running;
mod server;
mod spawn;
mod start;
mod temporary;
mod wait;
#[cfg(any(test, not(target_os = "linux")))]
mod watchdog;
mod wire;

mod error;

pub use binaries::{Binaries, Version};
pub use database::Database;
pub use error::{Error, Result};
pub use options::Options;
pub use port::free_port;
