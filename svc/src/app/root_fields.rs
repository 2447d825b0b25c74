//! The traits through which the operation lists accept functions.

use svc_core::schema::RootFieldMeta;

/// A registered root field; the struct that `#[svc::query]` and its siblings generate beside the
/// function.
///
/// A struct named `bool` would hide the type. So for a function with the name of a primitive type,
/// that primitive type implements the trait, with a type of the user's crate as `Owner`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a root field",
    label = "not a root field",
    note = "put `#[svc::query]`, `#[svc::mutation]` or `#[svc::subscription]` on the function and list its name"
)]
pub trait RootField<Owner = ()> {
    /// The description of the root field.
    const META: &'static RootFieldMeta;
}

/// A root field that `queries!` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    label = "not a query",
    note = "`queries!` takes functions with `#[svc::query]`; list those with `#[svc::mutation]` in `mutations!`"
)]
pub trait Query<Owner = ()>: RootField<Owner> {}

/// A root field that `mutations!` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mutation",
    label = "not a mutation",
    note = "`mutations!` takes functions with `#[svc::mutation]`; list those with `#[svc::query]` in `queries!`"
)]
pub trait Mutation<Owner = ()>: RootField<Owner> {}

/// A root field that `subscriptions!` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscription",
    label = "not a subscription",
    note = "`subscriptions!` takes functions with `#[svc::subscription]`; list those with `#[svc::query]` in `queries!`"
)]
pub trait Subscription<Owner = ()>: RootField<Owner> {}
