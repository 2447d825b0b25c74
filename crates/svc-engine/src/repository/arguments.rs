//! `where` and `orderBy` as arguments of a resolver.

use std::marker::PhantomData;

use async_graphql::Value;

use svc_core::schema::{Derived, Input, InputError, Registry, SvcType, TypeRef};

/// The `where` argument of a resolver, as for functions without a body.
///
/// Pass it to [`Find::apply_where`](super::Find::apply_where). A row must match both its conditions
/// and the resolver's filters, so a client can narrow the result of a resolver but never widen it.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String, active: bool }
/// #[svc::query]
/// async fn members(
///     ctx: &Context<'_>,
///     r#where: Option<Where<User>>,
///     order_by: Option<OrderBy<User>>,
///     page: Page,
/// ) -> Result<Find<User>> {
///     let users = ctx.db().find::<User>().filter(col("active").eq(true));
///     Ok(users.apply_where(r#where).apply_order_by(order_by).page(page))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Where<T> {
    pub(crate) value: Value,
    row: PhantomData<fn() -> T>,
}

/// The `orderBy` argument of a resolver, as for functions without a body; see [`Where`].
///
/// Pass it to [`Find::apply_order_by`](super::Find::apply_order_by). Its keys come after the
/// resolver's own. Name the parameter `order_by`, which becomes `orderBy` with camel case.
#[derive(Debug, Clone)]
pub struct OrderBy<T> {
    pub(crate) keys: Value,
    row: PhantomData<fn() -> T>,
}

impl<T: SvcType + 'static> Input for Where<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::Where, T::register))
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(value @ Value::Object(_)) => Ok(Self {
                value,
                row: PhantomData,
            }),
            other => Err(InputError::expected("conditions", other.as_ref())),
        }
    }
}

impl<T: SvcType + 'static> Input for OrderBy<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::OrderBy, T::register)).list()
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(keys @ Value::List(_)) => Ok(Self {
                keys,
                row: PhantomData,
            }),
            other => Err(InputError::expected("a list of orders", other.as_ref())),
        }
    }
}
