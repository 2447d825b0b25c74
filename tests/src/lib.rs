//! The harness of the black-box tests: one PostgreSQL for the test program, a database and a server for each test.

mod app;
mod cluster;
mod database;
mod eventually;
mod frozen;
mod javascript;
mod kinds;
mod log;
mod logged;
mod proxy;
pub mod raw;
mod redis;
mod written;

pub use app::{App, Reply, client};
pub use cluster::cluster;
pub use database::TestDatabase;
pub use eventually::{eventually, within};
pub use frozen::Frozen;
pub use javascript::{chromium, node};
pub use kinds::{agreed, three_views};
pub use log::capture as capture_log;
pub use logged::Log;
pub use network::Flow;
pub use proxy::Proxy;
pub use redis::Redis;
pub use written::secret;
