//! The seam behind which the schema holds the code of resolvers.

use std::any::Any;
use std::fmt::Debug;

/// The code behind a root field or a method. The schema only holds it; the engine, which knows its type, calls it.
pub trait Code: Any + Debug + Send + Sync {}
