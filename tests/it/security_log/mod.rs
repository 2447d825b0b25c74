//! The security log: what it holds, and the file that it is written to.

mod after_mutation;
mod blocked;
mod bounds;
mod files;
mod full;
mod hour;
mod service;
mod trouble;
