//! The cost of methods, each of which may send a statement for each object.

use svc::Limits;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
}

#[svc_type]
impl Item {
    fn plain(&self) -> i32 {
        self.id
    }
    async fn asks(&self, ctx: &Context<'_>) -> Result<i64> {
        ctx.db().find::<Self>().count().await
    }
    #[svc(cost = 50)]
    async fn dear(&self) -> i32 {
        self.id
    }
    #[svc(cost = 2)]
    fn digest(&self) -> i32 {
        self.id
    }
    async fn like(&self) -> Vec<Item> {
        vec![Self { id: self.id }]
    }
}

#[svc::query]
async fn items() -> Vec<Item>;

async fn app(complexity: u64) -> App {
    let url = TestDatabase::shared(
        "cost_of_methods",
        "CREATE VIEW v_item AS SELECT n AS id FROM generate_series(1, 10) AS n",
    )
    .await;
    let options = AppOptions::new().database_url(url).queries(queries![items]);
    App::serve(options.limits(Limits {
        complexity,
        max_page: 1_000,
        ..Limits::default()
    }))
    .await
}

#[tokio::test]
async fn a_method_counts_for_each_object() {
    let app = app(100).await;
    for (selection, most) in [
        ("plain", 99),
        ("asks", 9),
        ("dear", 1),
        ("digest", 49),
        ("plain digest asks", 7),
        // A list without an argument for its page counts as five.
        ("like { id }", 6),
        ("like { like { id } }", 1),
    ] {
        let query = |page| format!("{{ items(limit: {page}) {{ {selection} }} }}");
        app.query(&query(most)).await.data();
        let reply = app.query(&query(most + 1)).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_COMPLEX",
            "{selection}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn a_short_document_cannot_send_thousands_of_statements() {
    let app = app(Limits::default().complexity).await;
    let asks = |count: usize| {
        (0..count)
            .map(|alias| format!("a{alias}: asks "))
            .collect::<String>()
    };
    let reply = app
        .query(&format!("{{ items(limit: 1000) {{ {} }} }}", asks(9)))
        .await;
    assert_eq!(reply.code(), "QUERY_TOO_COMPLEX");
    assert!(reply.message().contains("items"), "{}", reply.message());
    // A page of a hundred with nine of them is an ordinary one.
    app.query(&format!("{{ items(limit: 100) {{ id {} }} }}", asks(9)))
        .await
        .data();
}
