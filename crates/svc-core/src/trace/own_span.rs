//! Spans of the program's own work.

use serde_json::Value;

use super::spans::{OpenSpan, has_older_db_attributes, tells_documents};

/// A span of the program's own work, below the current span, such as that of a root field. It ends
/// when it is dropped. If the trace of the request is not sampled, nothing is recorded.
#[must_use = "a span that is dropped has ended"]
pub struct OwnSpan(Option<OpenSpan>);

impl OwnSpan {
    /// Runs a future in the span.
    pub async fn around<F: Future>(self, work: F) -> F::Output {
        match &self.0 {
            Some(span) => span.around(work).await,
            None => work.await,
        }
    }

    /// Runs a future that may fail in the span, and records in the span's status whether it failed.
    /// The error itself is not recorded.
    ///
    /// # Errors
    /// The errors of the future.
    pub async fn try_around<T, E>(self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let Some(span) = &self.0 else {
            return work.await;
        };
        let result = span.around(work).await;
        if result.is_err() {
            span.failed("error");
        }
        result
    }
}

impl std::fmt::Debug for OwnSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnSpan")
            .field("is_sampled", &self.0.is_some())
            .finish_non_exhaustive()
    }
}

/// Creates the span of an operation that the program sends to another GraphQL service. It contains
/// only the names of the variables, and the text only if enabled by
/// [`TracingConfig::graphql_document`](super::TracingConfig::graphql_document).
///
/// ```
/// use svc::prelude::*;
/// use svc::serde_json::json;
/// use svc::trace::trace_graphql_query;
///
/// #[svc::query]
/// async fn price(id: i32) -> Result<i32> {
///     const PRICE: &str = "query Price($id: Int!) { price(id: $id) }";
///     let variables = json!({ "id": id });
///     trace_graphql_query("Price", PRICE, &variables).try_around(send(PRICE, &variables)).await
/// }
/// # async fn send(_: &str, _: &svc::serde_json::Value) -> Result<i32> { Ok(1) }
/// # drop(queries![price]);
/// ```
pub fn trace_graphql_query(name: &str, query_text: &str, variables: &Value) -> OwnSpan {
    // Only the names: the values may be passwords or personal data.
    let names = variables
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());

    let mut attributes = vec![
        ("graphql.operation.name", name.to_owned()),
        (
            "graphql.variable.names",
            names.collect::<Vec<_>>().join(","),
        ),
    ];

    if tells_documents() {
        attributes.push(("graphql.document", query_text.to_owned()));
    }

    OwnSpan(OpenSpan::own(format!("GraphQL {name}"), attributes, true))
}

/// Creates the span of an operation of this kind, such as `query`, that the program executes
/// itself.
///
/// ```
/// # async fn example() -> i32 {
/// svc::trace::trace_graphql_operation("query", "Nightly").around(async { 1 }).await
/// # }
/// ```
pub fn trace_graphql_operation(operation_type: &str, name: &str) -> OwnSpan {
    let attributes = vec![
        ("graphql.operation.type", operation_type.to_owned()),
        ("graphql.operation.name", name.to_owned()),
    ];
    OwnSpan(OpenSpan::own(
        format!("{operation_type} {name}"),
        attributes,
        false,
    ))
}

/// Creates the span of a statement that the program sends through sqlx, or to another database. The
/// statement must use placeholders for values.
///
/// ```
/// use svc::trace::trace_database_query;
///
/// # async fn example(pool: &svc::sqlx::PgPool) -> Result<i64, svc::sqlx::Error> {
/// const COUNT: &str = "SELECT count(*) FROM tb_order WHERE shop = $1";
/// let counting = svc::sqlx::query_scalar(COUNT).bind(7).fetch_one(pool);
/// trace_database_query("SELECT", "tb_order", Some(COUNT)).try_around(counting).await
/// # }
/// ```
pub fn trace_database_query(operation: &str, table: &str, statement: Option<&str>) -> OwnSpan {
    let summary = format!("{operation} {table}");
    let mut attributes = vec![
        ("db.operation.name", operation.to_owned()),
        ("db.collection.name", table.to_owned()),
        ("db.query.summary", summary.clone()),
    ];

    let mut tell = |stable, older, value: &str| {
        attributes.push((stable, value.to_owned()));
        if has_older_db_attributes() {
            attributes.push((older, value.to_owned()));
        }
    };

    tell("db.system.name", "db.system", "postgresql");
    if let Some(statement) = statement {
        tell("db.query.text", "db.statement", statement);
    }

    OwnSpan(OpenSpan::own(summary, attributes, true))
}

/// Creates the span of an operation on a cache of the program, such as `get`. Keys are not
/// recorded.
///
/// ```
/// # async fn example() -> Option<i32> {
/// svc::trace::trace_cache_operation("get", "prices").around(async { None }).await
/// # }
/// ```
pub fn trace_cache_operation(operation: &str, cache: &str) -> OwnSpan {
    let attributes = vec![
        ("cache.operation", operation.to_owned()),
        ("cache.name", cache.to_owned()),
    ];
    OwnSpan(OpenSpan::own(
        format!("{operation} {cache}"),
        attributes,
        false,
    ))
}
