//! Queries for rows, for use in resolvers.

use std::any::TypeId;
use std::marker::PhantomData;

use async_graphql::Value;

use crate::limits::Limits;
use crate::repository::{Db, OrderBy, Page, Where};
use crate::sql::{Column, Filter, Order, Window};
use svc_core::schema::{Model, SvcType, TypeIndex};
use svc_postgres::DbError;

/// A query for the rows of `T`'s view; made by [`Db::find`].
///
/// When a resolver returns it, the engine runs one statement that reads the client's selection.
/// Awaiting it returns typed rows instead.
#[derive(Debug, Clone)]
#[must_use = "return the query or await it"]
pub struct Find<T> {
    db: Db,
    spec: FindSpec,
    row: PhantomData<fn() -> T>,
}

/// A query without its row type.
#[derive(Debug, Clone)]
pub struct FindSpec {
    pub(crate) row: TypeId,
    /// The Rust type of the rows, for messages.
    pub(crate) rust: &'static str,
    #[doc(hidden)]
    pub filter: Filter,
    /// The columns whose values [`Db::scoped`] has fixed.
    pub(crate) scoped: Vec<String>,
    pub(crate) order: Vec<Order>,
    /// The keys that come after the client's.
    pub(crate) default_order: Vec<Order>,
    /// The `where` arguments of clients.
    pub(crate) conditions: Vec<Value>,
    /// The `orderBy` arguments of clients, which come after `order`.
    pub(crate) keys: Vec<Value>,
    pub(crate) limit: Option<i64>,
    pub(crate) offset: i64,
}

impl FindSpec {
    /// All rows of a Rust type.
    pub(crate) fn new(row: TypeId) -> Self {
        Self {
            row,
            rust: "",
            filter: Filter::All(Vec::new()),
            scoped: Vec::new(),
            order: Vec::new(),
            default_order: Vec::new(),
            conditions: Vec::new(),
            keys: Vec::new(),
            limit: None,
            offset: 0,
        }
    }

    /// The type of the rows in the schema.
    pub(crate) fn row(&self, model: &Model) -> Result<TypeIndex, DbError> {
        model
            .by_rust
            .get(&self.row)
            .copied()
            .ok_or(DbError::UnknownType(self.rust))
    }

    /// The page, within the limits.
    pub(crate) fn page(&self, limits: &Limits) -> Result<Window, DbError> {
        page(self.limit, self.offset, limits)
    }
}

/// Checks the number of rows requested by the argument `name`.
pub(crate) fn check_size(name: &'static str, size: i64, limits: &Limits) -> Result<(), DbError> {
    if size < 0 {
        return Err(DbError::NegativePage(name));
    }
    if size > limits.max_page.into() {
        return Err(DbError::PageTooLarge(name, size, limits.max_page));
    }
    Ok(())
}

/// Builds a page from the limit and offset of a client or a resolver.
pub fn page(limit: Option<i64>, offset: i64, limits: &Limits) -> Result<Window, DbError> {
    let limit = limit.unwrap_or_else(|| limits.default_page.into());
    check_size("limit", limit, limits)?;
    if offset < 0 {
        return Err(DbError::NegativePage("offset"));
    }
    Ok(Window { limit, offset })
}

impl Db {
    /// Starts a query for the rows of `T`'s view.
    ///
    /// Return the query to compile it, together with the client's selection, into one statement, or
    /// await it for typed rows.
    ///
    /// ```
    /// use svc::db::{asc, col};
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_user")]
    /// pub struct User {
    ///     id: Uuid,
    ///     name: String,
    /// }
    ///
    /// #[svc::query]
    /// async fn team(ctx: &Context<'_>, lead: Uuid) -> Result<Find<User>> {
    ///     Ok(ctx.db().find::<User>().filter(col("lead_id").eq(lead)).order_by(asc("name")))
    /// }
    ///
    /// #[svc::query]
    /// async fn team_size(ctx: &Context<'_>, lead: Uuid) -> Result<i32> {
    ///     let rows = ctx.db().find::<User>().filter(col("lead_id").eq(lead)).await?;
    ///     Ok(rows.len().try_into()?)
    /// }
    /// ```
    pub fn find<T: SvcType>(&self) -> Find<T> {
        Find::new(self.clone())
    }

    /// Starts a query for one row of `T`'s view: the first that matches, or none.
    pub fn find_one<T: SvcType>(&self) -> FindOne<T> {
        self.find().one()
    }
}

impl<T: SvcType> Find<T> {
    fn new(db: Db) -> Self {
        let mandatory = db
            .mandatory
            .iter()
            .map(|(column, value)| Column::of(column).eq(value.clone()));
        let spec = FindSpec {
            filter: Filter::All(mandatory.collect()),
            scoped: db
                .mandatory
                .iter()
                .map(|(column, _)| column.clone())
                .collect(),
            rust: std::any::type_name::<T>(),
            ..FindSpec::new(TypeId::of::<T>())
        };

        Self {
            db,
            spec,
            row: PhantomData,
        }
    }

    /// Keeps only rows that match. With several filters, a row must match all of them.
    pub fn filter(mut self, filter: Filter) -> Self {
        // The placeholder matches no row, so it could never widen the query.
        self.spec.filter =
            std::mem::replace(&mut self.spec.filter, Filter::Any(Vec::new())).and(filter);
        self
    }

    /// Adds a key to the order; the first one added is the most significant.
    pub fn order_by(mut self, order: Order) -> Self {
        self.spec.order.push(order);
        self
    }

    /// Adds a key to the order, after the client's keys. It applies if the client specifies no
    /// order, or an order that leaves ties.
    ///
    /// ```
    /// use svc::db::{OrderBy, desc};
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_post")]
    /// pub struct Post {
    ///     id: Uuid,
    ///     title: String,
    ///     created_at: DateTime<Utc>,
    /// }
    ///
    /// /// The latest first, unless a client wants another order.
    /// #[svc::query]
    /// async fn posts(ctx: &Context<'_>, order_by: Option<OrderBy<Post>>) -> Result<Find<Post>> {
    ///     Ok(ctx.db().find::<Post>().default_order(desc("created_at")).apply_order_by(order_by))
    /// }
    /// ```
    pub fn default_order(mut self, order: Order) -> Self {
        self.spec.default_order.push(order);
        self
    }

    /// Limits the rows to at most this many, and never more than
    /// [`Limits::max_page`](crate::Limits::max_page).
    ///
    /// Without a limit, a query that is returned gives clients a page of
    /// [`Limits::default_page`](crate::Limits::default_page) rows. A query that is awaited returns
    /// all rows, and fails if there are more than the maximum page size.
    pub fn limit(mut self, limit: u32) -> Self {
        self.spec.limit = Some(limit.into());
        self
    }

    /// Skips this many rows.
    pub fn offset(mut self, offset: u32) -> Self {
        self.spec.offset = offset.into();
        self
    }

    /// Keeps only rows that also match a client's `where`. Without a `where`, the query stays
    /// unchanged. See [`Where`].
    pub fn apply_where(mut self, conditions: impl Into<Option<Where<T>>>) -> Self {
        self.spec
            .conditions
            .extend(conditions.into().map(|conditions| conditions.value));
        self
    }

    /// Adds the keys of a client's `orderBy` after the keys of [`order_by`](Self::order_by). See
    /// [`OrderBy`].
    pub fn apply_order_by(mut self, order: impl Into<Option<OrderBy<T>>>) -> Self {
        self.spec.keys.extend(order.into().map(|order| order.keys));
        self
    }

    /// Sets the limit and offset of a client. A value that the client omits stays unchanged. See
    /// [`Page`].
    pub fn page(mut self, page: Page) -> Self {
        self.spec.limit = page.limit.map(i64::from).or(self.spec.limit);
        self.spec.offset = page.offset.map_or(self.spec.offset, i64::from);
        self
    }

    /// Turns the query into one for its first row.
    pub fn one(self) -> FindOne<T> {
        FindOne(self.limit(1))
    }

    /// The query without its row type, for the engine.
    pub(crate) fn into_spec(self) -> FindSpec {
        self.spec
    }

    pub(crate) fn into_parts(self) -> (Db, FindSpec) {
        (self.db, self.spec)
    }
}

/// A query for one row; made by [`Db::find_one`] and [`Find::one`].
#[derive(Debug, Clone)]
#[must_use = "return the query or await it"]
pub struct FindOne<T>(Find<T>);

impl<T: SvcType> FindOne<T> {
    /// Keeps only a row that matches. With several filters, the row must match all of them.
    pub fn filter(self, filter: Filter) -> Self {
        Self(self.0.filter(filter))
    }

    /// Adds an order key, which determines the first of several matching rows.
    pub fn order_by(self, order: Order) -> Self {
        Self(self.0.order_by(order))
    }

    /// The query without its row type, for the engine.
    pub(crate) fn into_spec(self) -> FindSpec {
        self.0.spec
    }

    pub(crate) fn into_find(self) -> Find<T> {
        self.0
    }
}
