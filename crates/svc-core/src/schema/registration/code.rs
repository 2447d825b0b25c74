//! The interface through which the schema stores the code of resolvers.

use std::any::Any;
use std::fmt::Debug;

/// The code of a root field or a method. The schema only stores it; the engine casts it to its
/// concrete type and calls it.
pub trait Code: Any + Debug + Send + Sync {}
