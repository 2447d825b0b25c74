//! The lists that `types!`, `queries!` and `mutations!` make.

use crate::__private::{Mutation, Query};
use crate::schema::{KeyFn, OperationMeta, SvcType};

/// Types to register besides those that operations reach; made by [`types!`](crate::types).
#[derive(Debug, Clone, Default)]
pub struct TypeList(pub(crate) Vec<KeyFn>);

/// Queries to serve; made by [`queries!`](crate::queries).
#[derive(Debug, Clone, Default)]
pub struct QueryList(pub(crate) Vec<&'static OperationMeta>);

/// Mutations to serve; made by [`mutations!`](crate::mutations).
#[derive(Debug, Clone, Default)]
pub struct MutationList(pub(crate) Vec<&'static OperationMeta>);

impl TypeList {
    /// Adds a type.
    #[must_use]
    pub fn with<T: SvcType>(mut self) -> Self {
        self.0.push(T::register);
        self
    }
}

impl QueryList {
    /// Adds a query.
    #[must_use]
    pub fn with<T: Query>(mut self) -> Self {
        self.0.push(T::META);
        self
    }
}

impl MutationList {
    /// Adds a mutation.
    #[must_use]
    pub fn with<T: Mutation>(mut self) -> Self {
        self.0.push(T::META);
        self
    }
}

/// Lists types for [`AppOptions::types`](crate::AppOptions::types). Types that operations reach need no listing.
#[macro_export]
macro_rules! types {
    ($($ty:ty),* $(,)?) => { $crate::TypeList::default()$(.with::<$ty>())* };
}

/// Lists functions with `#[svc::query]` for [`AppOptions::queries`](crate::AppOptions::queries).
#[macro_export]
macro_rules! queries {
    ($($query:ty),* $(,)?) => { $crate::QueryList::default()$(.with::<$query>())* };
}

/// Lists functions with `#[svc::mutation]` for [`AppOptions::mutations`](crate::AppOptions::mutations).
#[macro_export]
macro_rules! mutations {
    ($($mutation:ty),* $(,)?) => { $crate::MutationList::default()$(.with::<$mutation>())* };
}
