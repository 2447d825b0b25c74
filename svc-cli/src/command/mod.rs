//! The commands: each has its `Arguments`, or its own `Command`, and a function `run`.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod db;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod generate;
pub(crate) mod init;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod schema;
pub(crate) mod sql;
