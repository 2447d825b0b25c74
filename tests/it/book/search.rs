//! Full text search, the best matches first.

use serde_json::json;
use svc::prelude::*;
use svc::scalar::SearchVector;

use super::serve;

#[svc_type(sql_source = "v_article")]
struct Article {
    id: Uuid,
    title: String,
    search: SearchVector,
}

#[svc::query]
async fn articles() -> Connection<Article>;

#[tokio::test]
async fn matches_in_titles_rank_above_matches_in_bodies() {
    let rows = "INSERT INTO tb_article (title, body) VALUES
        ('Dogs', 'A dog sees many cats.'), ('Cats', 'They sleep.'), ('Birds', 'They fly.');";
    let (app, _database) = serve("search", rows, |options| {
        options.queries(queries![articles])
    })
    .await;
    let document = "query ($words: String!) {
      articles(first: 10, where: { search: { websearchQuery: $words } }, orderBy: [{ search: { websearchQuery: $words } }]) {
        nodes { title }
      }
    }";
    let found = app
        .query_with(document, json!({ "words": "cat" }))
        .await
        .data();
    assert_eq!(
        found["articles"]["nodes"],
        json!([{ "title": "Cats" }, { "title": "Dogs" }])
    );
}
