//! Values of the application, by type, for resolvers.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// Values of the application, by type.
#[derive(Default)]
pub struct DataMap(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl DataMap {
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(value));
    }

    /// Returns the value of a type.
    ///
    /// # Errors
    /// When there is none.
    pub fn get<T: Any>(&self) -> svc_core::Result<&T> {
        self.0.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref()).ok_or_else(|| {
            let name = std::any::type_name::<T>();
            let message = format!("no `{name}` was given; add `.data(…)` or `.request_data(…)` to the `AppOptions`");
            svc_core::Error::internal(message)
        })
    }
}
