//! Slots in a plan for values cached by the code that runs it.

use std::any::Any;
use std::sync::OnceLock;

/// A slot in a plan, where the code that runs the plan caches a value for later requests. The type
/// of the value is opaque to the plan.
#[derive(Debug, Default)]
pub(crate) struct Slot(OnceLock<Box<dyn Any + Send + Sync>>);

impl Slot {
    /// Returns the value, created on first use; `None` if the slot has a value of another type.
    pub(crate) fn get<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        self.0.get_or_init(|| Box::<T>::default()).downcast_ref()
    }
}
