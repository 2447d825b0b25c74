//! The harness of the black-box tests: one PostgreSQL for the test program, a database and a server
//! for each test.

mod alone;
mod app;
mod cluster;
mod cpu;
mod database;
mod error_ids;
mod eventually;
mod frozen;
mod javascript;
mod kinds;
mod log;
mod logged;
mod memory;
mod pooler;
mod program;
mod proxy;
pub mod raw;
mod redis;
mod socket;
mod written;

pub use alone::{is_alone, is_alone_with};
pub use app::{App, Reply, client};
pub use cluster::cluster;
pub use cpu::cpu;
pub use database::TestDatabase;
pub use error_ids::without_error_ids;
pub use eventually::{eventually, within};
pub use frozen::Frozen;
pub use javascript::{chromium, node, node_stderr};
pub use kinds::{agreed, agreed_data, ids, three_views};
pub use log::capture as capture_log;
pub use logged::Log;
pub use memory::resident;
pub use network::Flow;
pub use pooler::PgBouncer;
pub use program::Program;
pub use proxy::Proxy;
pub use redis::Redis;
pub use socket::{Closed, Events, Socket};
pub use written::secret;
