//! The lists created by `types!`, `queries!`, `mutations!` and `subscriptions!`.

use super::root_fields::{Mutation, Query, Subscription};
use svc_core::schema::{KeyFn, RootFieldMeta, SvcType};

/// Types to register in addition to the types that operations reach; made by
/// [`types!`](crate::types).
#[derive(Debug, Clone, Default)]
pub struct TypeList(pub(crate) Vec<KeyFn>);

/// Queries to serve; made by [`queries!`](crate::queries).
#[derive(Debug, Clone, Default)]
pub struct QueryList(pub(crate) Vec<&'static RootFieldMeta>);

/// Mutations to serve; made by [`mutations!`](crate::mutations).
#[derive(Debug, Clone, Default)]
pub struct MutationList(pub(crate) Vec<&'static RootFieldMeta>);

/// Subscriptions to serve; made by [`subscriptions!`](crate::subscriptions).
#[derive(Debug, Clone, Default)]
pub struct SubscriptionList(pub(crate) Vec<&'static RootFieldMeta>);

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
    pub fn with<T: Query<Owner> + ?Sized, Owner>(mut self) -> Self {
        self.0.push(T::META);
        self
    }
}

impl MutationList {
    /// Adds a mutation.
    #[must_use]
    pub fn with<T: Mutation<Owner> + ?Sized, Owner>(mut self) -> Self {
        self.0.push(T::META);
        self
    }
}

impl SubscriptionList {
    /// Adds a subscription.
    #[must_use]
    pub fn with<T: Subscription<Owner> + ?Sized, Owner>(mut self) -> Self {
        self.0.push(T::META);
        self
    }
}

/// Lists types for [`AppOptions::types`](crate::AppOptions::types). Types that operations reach
/// need no listing.
#[macro_export]
macro_rules! types {
    ($($(#[$attr:meta])* $ty:ty),* $(,)?) => {{
        let list = $crate::TypeList::default();
        $($(#[$attr])* let list = list.with::<$ty>();)*
        list
    }};
}

/// Lists functions with `#[svc::query]` for [`AppOptions::queries`](crate::AppOptions::queries).
///
/// An entry may have a condition: `queries![users, #[cfg(feature = "search")] search]`.
#[macro_export]
macro_rules! queries {
    ($($(#[$attr:meta])* $query:ty),* $(,)?) => {{
        let list = $crate::QueryList::default();
        $($(#[$attr])* let list = list.with::<$query, _>();)*
        list
    }};
}

/// Lists functions with `#[svc::mutation]` for
/// [`AppOptions::mutations`](crate::AppOptions::mutations).
#[macro_export]
macro_rules! mutations {
    ($($(#[$attr:meta])* $mutation:ty),* $(,)?) => {{
        let list = $crate::MutationList::default();
        $($(#[$attr])* let list = list.with::<$mutation, _>();)*
        list
    }};
}

/// Lists functions with `#[svc::subscription]` for
/// [`AppOptions::subscriptions`](crate::AppOptions::subscriptions).
///
/// An entry may have a condition: `subscriptions![post_changed, #[cfg(feature = "chat")] said]`.
#[macro_export]
macro_rules! subscriptions {
    ($($(#[$attr:meta])* $subscription:ty),* $(,)?) => {{
        let list = $crate::SubscriptionList::default();
        $($(#[$attr])* let list = list.with::<$subscription, _>();)*
        list
    }};
}
