//! Compiles the Rust snippets of the book, and keeps what it quotes in step with its source.

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
    tenancy: "tenancy.md";
    operations: "operations.md";
}

#[cfg(feature = "embedded")]
chapter! {
    first_program: "first-program.md";
    embedded_database: "embedded-database.md";
}

#[cfg(test)]
mod tests {
    use crate::Limits;

    const README: &str = include_str!("../../README.md");
    const FIRST_PROGRAM: &str = include_str!("../../docs/first-program.md");
    const SERVING: &str = include_str!("../../docs/serving.md");
    const CONFIG: &str = include_str!("app/config.rs");

    #[test]
    fn the_quoted_program_is_the_quickstart() {
        let program = concat!("```rust,ignore\n", include_str!("../../examples/quickstart/src/main.rs"), "```\n");
        let schema = concat!("```sql\n", include_str!("../../examples/quickstart/src/schema.sql"), "```\n");
        assert!(README.contains(program), "README.md differs from examples/quickstart/src/main.rs");
        assert!(FIRST_PROGRAM.contains(program), "docs/first-program.md differs from examples/quickstart/src/main.rs");
        assert!(
            FIRST_PROGRAM.contains(schema),
            "docs/first-program.md differs from examples/quickstart/src/schema.sql"
        );
    }

    #[test]
    fn every_setting_is_in_the_book() {
        let settings = CONFIG.split(['"', '`']).filter(|part| part.starts_with("SVC_") && !part.contains(' '));
        for setting in settings {
            assert!(SERVING.contains(&format!("`{setting}`")), "docs/serving.md does not name {setting}");
        }
    }

    #[test]
    fn the_limits_are_those_of_the_book() {
        let Limits {
            body,
            tokens,
            values,
            depth,
            aliases,
            root_fields,
            directives,
            complexity,
            comparisons,
            hops,
            order_keys,
            relations,
            default_page,
            max_page,
            errors,
        } = Limits::default();
        let rows = [
            ("body", body as u64),
            ("tokens", tokens as u64),
            ("values", values as u64),
            ("depth", depth as u64),
            ("aliases", aliases as u64),
            ("root_fields", root_fields as u64),
            ("directives", directives as u64),
            ("complexity", complexity),
            ("comparisons", comparisons),
            ("hops", hops),
            ("order_keys", order_keys),
            ("relations", relations),
            ("default_page", default_page.into()),
            ("max_page", max_page.into()),
            ("errors", errors as u64),
        ];
        for (name, value) in rows {
            let row = format!("| `{name}` | {value} |");
            assert!(SERVING.contains(&row), "docs/serving.md has no row {row}");
        }
    }
}
