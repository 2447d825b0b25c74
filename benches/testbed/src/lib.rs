//! The parts that the measurements of one server need: the bench database, the server as a process
//! of its own, a client that costs little, and what the kernel and valgrind say about the
//! processes. Load over several connections, and the statistics of its rounds.

mod client;
mod database;
mod load;
mod process;
mod profile;
mod server;
mod statistics;

pub use client::{Client, Request};
pub use database::{Database, psql};
pub use load::{Amount, Cost, Load};
pub use process::{Process, mebibytes};
pub use profile::Profile;
pub use server::{STEADY, Server};
pub use statistics::{interval, median};
