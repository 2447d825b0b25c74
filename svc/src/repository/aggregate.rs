//! Aggregates and groups, as resolvers ask for them.

use std::marker::PhantomData;

use crate::repository::{Find, FindSpec};
use crate::schema::{Derived, PlannedReturn, Registry, Shape, SvcType, TypeKey, TypeRef};
use crate::sql::{Column, Order};

/// Aggregates over the rows that match: `count`, `sum`, `avg`, `min`, `max` and groups.
///
/// A function without a body that returns it takes `where`. A resolver makes one with
/// [`Find::aggregate`](super::Find::aggregate). Everything that a client selects comes from one statement.
///
/// In GraphQL it is `UserAggregate`. `sum` and `avg` have the fields that are numbers, `min` and `max` also those that
/// are texts, dates and times. Sums of whole numbers and decimals are exact: of `Int` they are `BigInt`, of `BigInt`
/// `Decimal`. `groups` are by the fields that are selected of `key`, with an order and a page of their own.
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
        Self { spec, row: PhantomData }
    }

    /// The rows without their type, for the engine.
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
    /// Turns the query into all of its aggregates, of which a client selects some: return it from a resolver.
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

/// A group of rows: the values that they share, as text, and how many they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCount {
    /// A value for each column that was grouped by; `None` is null.
    pub key: Vec<Option<String>>,
    /// The number of rows.
    pub count: i64,
}

/// An order of groups is by their keys.
pub(crate) fn key_order(columns: &[Column]) -> Vec<Order> {
    columns.iter().map(|column| super::asc(column.path.join("."))).collect()
}
