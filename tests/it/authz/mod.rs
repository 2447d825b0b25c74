//! Authorization: which operations may run, on which rows, and which fields are answered.

mod authorizer;
mod cache;
mod gated_fields;
mod guards;
mod open;
mod own_authorizer;
mod principals;
mod row_filters;
mod service;
