//! The access to fields: guards, and checks of the program's own.

pub(crate) mod field_check;
pub(crate) mod guard_attribute;
