//! Aggregates and groups as return types of resolvers.

use std::marker::PhantomData;

use crate::repository::{Find, FindSpec};
use crate::sql::{Column, Order};
use svc_core::schema::{Derived, PlannedReturn, Registry, Shape, SvcType, TypeKey, TypeRef};

/// Aggregates over the rows that match: `count`, `sum`, `avg`, `min`, `max` and groups.
///
/// A function without a body that returns it takes `where`. A resolver builds one with
/// [`Find::aggregate`](super::Find::aggregate). One statement computes everything that a client
/// selects.
///
/// In GraphQL the type is called `UserAggregate`. `sum` and `avg` have the numeric fields; `min`
/// and `max` also have the texts, dates and times. Sums of integers and decimals are exact: a sum
/// of `Int` is a `BigInt`, a sum of `BigInt` a `Decimal`. `groups` groups by the fields selected in
/// `key` and has its own order and page.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, age: i32, city: String }
/// /// `{ users_statistics { count avg { age } groups { key { city } count } } }`
/// #[svc::query]
/// async fn users_statistics() -> Aggregate<User>;
/// ```
#[derive(Debug, Clone)]
#[must_use = "return what is computed"]
pub struct Aggregate<T> {
    spec: FindSpec,
    row: PhantomData<fn() -> T>,
}

impl<T> Aggregate<T> {
    pub(super) fn new(spec: FindSpec) -> Self {
        Self {
            spec,
            row: PhantomData,
        }
    }

    /// The query without its row type, for the engine.
    pub(crate) fn into_spec(self) -> FindSpec {
        self.spec
    }
}

impl<T: SvcType + 'static> PlannedReturn for Aggregate<T> {
    const SHAPE: Shape = Shape::Aggregate;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::Aggregate, T::register))
    }
}

impl<T: SvcType> Find<T> {
    /// Turns the query into an [`Aggregate`], to return from a resolver: the client selects the
    /// aggregates that it needs.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, city: String, price: Decimal }
    /// #[svc::query]
    /// async fn orders_in(ctx: &Context<'_>, city: String, r#where: Option<Where<Order>>) -> Result<Aggregate<Order>> {
    ///     Ok(ctx.db().find::<Order>().filter(col("city").eq(city)).apply_where(r#where).aggregate())
    /// }
    /// ```
    pub fn aggregate(self) -> Aggregate<T> {
        Aggregate::new(self.into_spec())
    }
}

/// A group of rows: the values that they share, as text, and the number of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCount {
    /// A value for each grouping column; `None` is null.
    pub key: Vec<Option<String>>,
    /// The number of rows.
    pub count: i64,
}

/// Groups are ordered by their keys.
pub(crate) fn key_order(columns: &[Column]) -> Vec<Order> {
    columns
        .iter()
        .map(|column| super::asc(column.path.join(".")))
        .collect()
}
