//! The parts that the measurements of one server need: the bench database, the server as a process of its own, a client
//! that costs little, and what the kernel says about the processes.

mod client;
mod database;
mod process;
mod server;

pub use client::{Client, Request};
pub use database::Database;
pub use process::{Process, mebibytes};
pub use server::Server;
