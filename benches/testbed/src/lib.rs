//! The parts that the measurements of one server need: the bench database, the server as a process
//! of its own, a client that costs little, and what the kernel and valgrind say about the
//! processes.

mod client;
mod database;
mod process;
mod profile;
mod server;

pub use client::{Client, Request};
pub use database::Database;
pub use process::{Process, mebibytes};
pub use profile::Profile;
pub use server::Server;
