use std::marker::PhantomData;

use crate::Error;
use crate::db::{Find, FindSpec};
use crate::schema::{AggregateFunction, Derived, PlannedReturn, Registry, Shape, SvcType, TypeKey, TypeRef};
use crate::sql::{Column, Order, col};

/// What is computed over the rows that match: `count`, `sum`, `avg`, `min`, `max` and groups.
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

/// A group of rows: the values that they share, as text, and how many they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCount {
    /// A value for each column that was grouped by; `None` is null.
    pub key: Vec<Option<String>>,
    /// How many rows there are.
    pub count: i64,
}

/// What is computed over all rows that match, whatever the limit and offset.
impl<T: SvcType> Find<T> {
    /// The sum of a numeric column, as exact as `numeric`; none without values.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, price: Decimal }
    /// #[svc::query]
    /// async fn turnover(ctx: &Context<'_>) -> Result<Option<Decimal>> {
    ///     Ok(ctx.db().find::<Order>().sum("price").await?)
    /// }
    /// ```
    ///
    /// # Errors
    /// When the database is away, the column is unknown, or it holds no numbers.
    pub async fn sum(self, column: impl AsRef<str>) -> Result<Option<rust_decimal::Decimal>, Error> {
        number(self.computed(AggregateFunction::Sum, column).await?)
    }

    /// The average of a numeric column, rounded to a float; none without values.
    ///
    /// # Errors
    /// Like [`sum`](Self::sum).
    pub async fn avg(self, column: impl AsRef<str>) -> Result<Option<f64>, Error> {
        let text = self.computed(AggregateFunction::Avg, column).await?;
        Ok(text.map(|text| text.parse()).transpose()?)
    }

    /// The smallest value of a column, as the text that PostgreSQL writes; none without values.
    ///
    /// # Errors
    /// When the database is away, the column is unknown, or its values have no order.
    pub async fn min(self, column: impl AsRef<str>) -> Result<Option<String>, Error> {
        self.computed(AggregateFunction::Min, column).await
    }

    /// The largest value of a column, as the text that PostgreSQL writes; none without values.
    ///
    /// # Errors
    /// Like [`min`](Self::min).
    pub async fn max(self, column: impl AsRef<str>) -> Result<Option<String>, Error> {
        self.computed(AggregateFunction::Max, column).await
    }

    /// The values of a column, each once, in order, as text; `None` is null.
    ///
    /// # Errors
    /// When the database is away, the column is unknown, or there are more values than
    /// [`Limits::max_page`](crate::Limits::max_page).
    pub async fn distinct(self, column: impl AsRef<str>) -> Result<Vec<Option<String>>, Error> {
        let groups = self.group_counts([column.as_ref()]).await?;
        Ok(groups.into_iter().filter_map(|group| group.key.into_iter().next()).collect())
    }

    /// How many rows there are for each combination of values of some columns, in the order of the values.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, city: Option<String> }
    /// #[svc::query]
    /// async fn largest_city(ctx: &Context<'_>) -> Result<Option<String>> {
    ///     let groups = ctx.db().find::<Order>().group_counts(["city"]).await?;
    ///     let largest = groups.into_iter().max_by_key(|group| group.count);
    ///     Ok(largest.and_then(|group| group.key.into_iter().next().flatten()))
    /// }
    /// ```
    ///
    /// # Errors
    /// When the database is away, a column is unknown, or there are more groups than
    /// [`Limits::max_page`](crate::Limits::max_page).
    pub async fn group_counts<C: AsRef<str>>(
        self,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Vec<GroupCount>, Error> {
        let columns: Vec<Column> = columns.into_iter().map(col).collect();
        let (db, spec) = self.into_parts();
        crate::engine::group_counts(&db, &spec, columns).await
    }

    /// Everything at once, as a client selects it: return it from a resolver.
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

    async fn computed(self, function: AggregateFunction, column: impl AsRef<str>) -> Result<Option<String>, Error> {
        let (db, spec) = self.into_parts();
        crate::engine::computed(&db, &spec, function, col(column)).await
    }
}

fn number(text: Option<String>) -> Result<Option<rust_decimal::Decimal>, Error> {
    let exact = |text: String| {
        let number = crate::scalar::parse_decimal(&text);
        number.ok_or_else(|| Error::internal(format!("the sum {text} has more digits than a Decimal holds")))
    };
    text.map(exact).transpose()
}

/// An order of groups is by their keys.
pub(crate) fn key_order(columns: &[Column]) -> Vec<Order> {
    columns.iter().map(|column| super::asc(column.0.join("."))).collect()
}
