//! A failed mutation tells whether it is done.

mod bodies;
mod entity;
mod lost;
mod registered;
mod schema;
mod several;
