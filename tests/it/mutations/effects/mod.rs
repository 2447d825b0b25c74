//! A failed mutation reports whether it was done.

mod bodies;
mod entity;
mod lost;
mod on_error;
mod registered;
mod schema;
mod several;
