//! Values of the application, by type, for resolvers.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// Values of the application, by type.
#[derive(Default)]
pub(crate) struct DataMap(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl DataMap {
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(value));
    }

    /// Returns the value of a type.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn get<T: Any>(&self) -> crate::Result<&T> {
        self.0.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref()).ok_or_else(|| {
            let name = std::any::type_name::<T>();
            let message = format!("no `{name}` was given; add `.data(…)` or `.request_data(…)` to the `AppOptions`");
            crate::Error::internal(message)
        })
    }
}
