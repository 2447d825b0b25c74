//! Pages with cursors that resolvers await.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use crate::graphql::find::typed_slice;
use crate::repository::{Connection, Edge, Slice};
use svc_core::Error;
use svc_core::schema::SvcType;

/// Typed rows. Fails when the database is unreachable, a cursor is not of this list, or a row
/// breaks its declared type.
impl<T: SvcType> IntoFuture for Connection<T> {
    type Output = Result<Slice<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (db, spec) = self.into_parts();
            let slice = typed_slice(&db, &spec).await?;
            let edges = slice.edges.into_iter().map(|edge| {
                Ok::<_, Error>(Edge {
                    node: T::from_stored(edge.node)?,
                    cursor: edge.cursor,
                })
            });

            Ok(Slice {
                edges: edges.collect::<Result<_, _>>()?,
                has_next_page: slice.has_next_page,
                has_previous_page: slice.has_previous_page,
            })
        })
    }
}
