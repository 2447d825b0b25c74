//! Patterns that PostgreSQL would read in full for each row.

use serde_json::json;

use super::app;

#[tokio::test]
async fn long_patterns_are_refused() {
    let app = app().await;
    for (operator, what) in [
        ("like", "a pattern"),
        ("ilike", "a pattern"),
        ("matches", "a regular expression"),
        ("imatches", "a regular expression"),
        ("icontains", "a text to look for in any case"),
        ("istartswith", "a text to look for in any case"),
        ("iendswith", "a text to look for in any case"),
    ] {
        for field in ["users", "found", "u: users"] {
            let document = format!(
                "query ($t: String!) {{ {field}(where: {{name: {{{operator}: $t}}}}) {{ id }} }}"
            );
            for text in ["%".repeat(900_000), "x".repeat(1_001)] {
                let reply = app.query_with(&document, json!({ "t": text })).await;
                assert_eq!(reply.code(), "BAD_USER_INPUT", "{document}: {}", reply.text);
                assert_eq!(
                    reply.message(),
                    format!("{what} can have at most 1000 bytes")
                );
            }
            app.query_with(&document, json!({ "t": "x".repeat(1_000) }))
                .await
                .data();
        }
    }
    // What is compared as it is may be as long as the request.
    for operator in ["eq", "contains", "startswith", "endswith"] {
        let document = format!(
            "query ($t: String!) {{ users(where: {{name: {{{operator}: $t}}}}) {{ id }} }}"
        );
        app.query_with(&document, json!({ "t": "%".repeat(900_000) }))
            .await
            .data();
    }
}
