//! Mutations without a resolver: functions of the database, and writes to tables.

pub(super) mod function;
mod root_fields;
pub(super) mod table;

pub(super) use root_fields::{Mutations, effects_when_late, one_of_each_first};
