//! Places in a plan for values of those who run it.

use std::any::Any;
use std::sync::OnceLock;

/// A place in a plan, where what runs it keeps what it has made for later requests. The plan does not know what that is.
#[derive(Debug, Default)]
pub(crate) struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// The value, made when it is first asked for; `None` where a value of another type is kept.
    pub(crate) fn get<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        self.0.get_or_init(|| Box::<T>::default()).downcast_ref()
    }
}
