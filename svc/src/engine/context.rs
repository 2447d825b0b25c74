use std::any::{Any, TypeId};
use std::collections::HashMap;

use axum::http::HeaderMap;

use crate::db::Db;

/// What a resolver knows of its request.
///
/// ```
/// use svc::prelude::*;
///
/// struct Greeting(&'static str); // given to `AppOptions::data`
///
/// #[svc::query]
/// fn hello(ctx: &Context<'_>) -> Result<String> {
///     let name = ctx.header("x-name").unwrap_or("world");
///     Ok(format!("{}, {name}", ctx.data::<Greeting>()?.0))
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(crate) request: &'a RequestScope,
}

/// One request, for as long as it is answered.
pub(crate) struct RequestScope {
    pub(crate) db: Db,
    pub(crate) headers: HeaderMap,
}

/// Values of the application, by type.
#[derive(Default)]
pub(crate) struct DataMap(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl DataMap {
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(value));
    }
}

impl<'a> Context<'a> {
    /// The database.
    pub fn db(&self) -> &'a Db {
        &self.request.db
    }

    /// A value given to [`AppOptions::data`](crate::AppOptions::data).
    ///
    /// # Errors
    /// When no value of this type was given; clients see it masked.
    pub fn data<T: Any + Send + Sync>(&self) -> crate::Result<&'a T> {
        let value = self.request.db.app.data.0.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref());
        value.ok_or_else(|| {
            let name = std::any::type_name::<T>();
            crate::Error::internal(format!("no `{name}` was given; add `.data(…)` to the `AppOptions`"))
        })
    }

    /// The request's headers.
    pub fn headers(&self) -> &'a HeaderMap {
        &self.request.headers
    }

    /// A header's text; `None` when it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.request.headers.get(name)?.to_str().ok()
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may hold tokens.
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
