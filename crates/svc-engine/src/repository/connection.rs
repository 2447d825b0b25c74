//! Connections (pages with cursors) as return types of resolvers.

use std::marker::PhantomData;

use crate::repository::{CursorPage, Db, Find, FindSpec};
use svc_core::schema::{Derived, PlannedReturn, Registry, Shape, SvcType, TypeKey, TypeRef};

/// A page of rows with cursors (GraphQL Cursor Connections Specification, Relay).
///
/// A function without a body that returns it takes `first`, `after`, `last`, `before`, `where` and
/// `orderBy`. A resolver builds one with [`Find::paginate`](super::Find::paginate). Return it to
/// run a single statement that reads the client's selection, or await it for typed rows, as a
/// [`Slice`].
///
/// In GraphQL the type is called `UserConnection`, with `edges { cursor node }`, `nodes`,
/// `pageInfo` and `totalCount`. `hasNextPage` and `hasPreviousPage` are exact; `totalCount` is only
/// counted when it is selected.
///
/// A cursor contains the row's order keys, readable for clients, and is valid for any list of the
/// same type and order. The rows need an `id`, which is the last key.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// /// `{ users(first: 10, orderBy: [{name: ASC}]) { nodes { name } pageInfo { hasNextPage endCursor } } }`
/// #[svc::query]
/// async fn users() -> Connection<User>;
///
/// /// The ids of a page, and the cursor of the next.
/// #[svc::query]
/// async fn ids(ctx: &Context<'_>, page: CursorPage) -> Result<Vec<String>> {
///     let slice = ctx.db().find::<User>().order_by(asc("name")).paginate(page).await?;
///     let next = slice.edges.last().filter(|_| slice.has_next_page).map(|edge| edge.cursor.clone());
///     Ok(slice.edges.iter().map(|edge| edge.node.id.to_string()).chain(next).collect())
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use = "return the page or await it"]
pub struct Connection<T> {
    db: Db,
    spec: ConnectionSpec,
    row: PhantomData<fn() -> T>,
}

/// A connection without its row type.
#[derive(Debug, Clone)]
pub struct ConnectionSpec {
    pub(crate) find: FindSpec,
    pub(crate) page: CursorPage,
}

/// The typed rows of a page, and whether more rows precede or follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<T> {
    /// The rows with their cursors, in the order of the list.
    pub edges: Vec<Edge<T>>,
    /// Whether rows follow.
    pub has_next_page: bool,
    /// Whether rows come before.
    pub has_previous_page: bool,
}

/// A row with its cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge<T> {
    /// The row.
    pub node: T,
    /// The cursor of the row, to pass as `after` or `before`.
    pub cursor: String,
}

impl<T: SvcType> Find<T> {
    /// Turns the query into a page with cursors; the query's own limit and offset are ignored. See
    /// [`CursorPage`] and [`Connection`].
    pub fn paginate(self, page: CursorPage) -> Connection<T> {
        let (db, spec) = self.into_parts();
        Connection::new(db, spec, page)
    }
}

impl<T> Connection<T> {
    fn new(db: Db, find: FindSpec, page: CursorPage) -> Self {
        Self {
            db,
            spec: ConnectionSpec { find, page },
            row: PhantomData,
        }
    }

    pub(crate) fn into_parts(self) -> (Db, ConnectionSpec) {
        (self.db, self.spec)
    }

    /// The page without its row type, for the engine.
    pub(crate) fn into_spec(self) -> ConnectionSpec {
        self.spec
    }
}

impl<T: SvcType + 'static> PlannedReturn for Connection<T> {
    const SHAPE: Shape = Shape::Connection;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::Connection, T::register))
    }
}
