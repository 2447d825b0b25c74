//! The security log: what it holds, and the file that it is written to.

mod blocked;
mod bounds;
mod files;
mod full;
mod hour;
mod service;
mod trouble;
