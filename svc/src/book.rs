//! Compiles the Rust snippets of the book and of the macros, and keeps the book's quotations in step
//! with the source.

/// Declares a chapter whose snippets are doctests.
macro_rules! chapter {
    ($($name:ident: $file:literal;)*) => {$(
        #[cfg(doctest)]
        #[doc = include_str!(concat!("../../docs/", $file))]
        mod $name {}
    )*};
}

chapter! {
    install: "install.md";
    views_and_types: "views-and-types.md";
    relations: "relations.md";
    queries: "queries.md";
    mutations: "mutations.md";
    pages: "pages.md";
    aggregates: "aggregates.md";
    scalars: "scalars.md";
    serving: "serving.md";
    requests: "requests.md";
    authorization: "authorization.md";
    tenancy: "tenancy.md";
    operations: "operations.md";
    rate_limits: "rate-limits.md";
    response_cache: "response-cache.md";
    security_log: "security-log.md";
    metrics: "metrics.md";
    tracing: "tracing.md";
    middleware: "middleware.md";
    batching: "batching.md";
    deployment: "deployment.md";
    exporting_the_schema: "exporting-the-schema.md";
    recipes: "recipes.md";
    coming_from: "coming-from.md";
    coming_from_postgraphile: "coming-from-postgraphile.md";
    coming_from_hasura: "coming-from-hasura.md";
    coming_from_fraiseql: "coming-from-fraiseql.md";
}

#[cfg(feature = "testing")]
chapter! {
    health: "health.md";
    subscriptions: "subscriptions.md";
    testing: "testing.md";
}

#[cfg(feature = "sqlx")]
chapter! {
    errors: "errors.md";
    coming_from_async_graphql: "coming-from-async-graphql.md";
}

#[cfg(feature = "upload")]
chapter! {
    uploads: "uploads.md";
}

#[cfg(feature = "idp")]
chapter! {
    authentication: "authentication.md";
    saas: "saas.md";
}

#[cfg(all(feature = "native-auth", feature = "redis", feature = "sessions"))]
chapter! {
    accounts: "accounts.md";
}

#[cfg(feature = "embedded")]
chapter! {
    first_program: "first-program.md";
    embedded_database: "embedded-database.md";
}

#[cfg(all(feature = "embedded", feature = "testing"))]
chapter! {
    seeing_the_sql: "seeing-the-sql.md";
}

/// Declares a page of the macros whose snippets are doctests. Their own crate does not run them: it
/// would depend on this one, and so would have all its crates built twice.
macro_rules! page {
    ($($name:ident: $file:literal;)*) => {$(
        #[cfg(doctest)]
        #[doc = include_str!(concat!("../../svc-macros/src/docs/", $file))]
        mod $name {}
    )*};
}

page! {
    query: "query.md";
    subscription: "subscription.md";
    svc_type: "svc_type.md";
    svc_input: "svc_input.md";
    svc_enum: "svc_enum.md";
    svc_interface: "svc_interface.md";
    svc_union: "svc_union.md";
    svc_result: "svc_result.md";
    svc_scalar: "svc_scalar.md";
    with_metrics: "with_metrics.md";
    trace_graphql_operation: "trace_graphql_operation.md";
}

#[cfg(feature = "sqlx")]
page! {
    mutation: "mutation.md";
    trace_database_query: "trace_database_query.md";
}

#[cfg(feature = "testing")]
page! {
    test: "test.md";
}

#[cfg(test)]
mod tests {
    const README: &str = include_str!("../../README.md");
    const FIRST_PROGRAM: &str = include_str!("../../docs/first-program.md");
    const CLI: &str = include_str!("../../docs/cli.md");

    #[test]
    fn the_quoted_program_is_the_quickstart() {
        let program = concat!(
            "```rust,ignore\n",
            include_str!("../../examples/quickstart/src/main.rs"),
            "```\n"
        );

        let schema = concat!(
            "```sql\n",
            include_str!("../../examples/quickstart/src/schema.sql"),
            "```\n"
        );

        assert!(
            README.contains(program),
            "README.md differs from examples/quickstart/src/main.rs"
        );
        assert!(
            FIRST_PROGRAM.contains(program),
            "docs/first-program.md differs from examples/quickstart/src/main.rs"
        );

        assert!(
            FIRST_PROGRAM.contains(schema),
            "docs/first-program.md differs from examples/quickstart/src/schema.sql"
        );
    }

    #[test]
    fn the_quoted_project_is_the_template() {
        for file in [
            include_str!("../../svc-cli/templates/common/src/lib.rs"),
            include_str!("../../svc-cli/templates/common/src/main.rs"),
        ] {
            assert!(
                CLI.contains(&format!("```rust,ignore\n{file}```\n")),
                "docs/cli.md differs from svc-cli/templates/common/src"
            );
        }
    }
}
