//! The types of the schema.

mod customer;
mod order;
mod product;

pub use customer::Customer;
pub use order::{Order, OrderLine, OrderStatus};
pub use product::{Product, Variant};
