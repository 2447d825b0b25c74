//! Values of the request that queries hand to functions are in the key of their answers.

use serde_json::{Value, json};
use svc::prelude::*;

use super::service::{Post, ask, database, options, serve};

#[svc::query(function = "posts_of", context = ["owner"], cache = 60)]
async fn owned() -> Vec<Post>;

const POSTS_OF: &str =
    "CREATE FUNCTION posts_of(of_owner text) RETURNS SETOF v_kept_post LANGUAGE sql STABLE AS
    $$ SELECT * FROM v_kept_post WHERE owner = of_owner $$";

#[tokio::test]
async fn context_values_are_in_the_key() {
    let database = database().await;
    database.execute(POSTS_OF).await;
    let owner = |ctx: &Context<'_>| match ctx.header("x-owner") {
        Some(owner) => Ok(Some(owner.to_owned())),
        None => Err(Error::new(ErrorCode::Unauthenticated, "say who you are")),
    };
    let app = serve(
        options(&database)
            .queries(queries![owned])
            .context_value("owner", owner),
    )
    .await;
    let titles = async |owner| ask(&app, "{ owned { title } }", &[("x-owner", owner)]).await;
    for _ in 0..3 {
        for (owner, expected) in [
            ("ada", json!([{ "title": "one" }])),
            ("bob", json!([{ "title": "two" }])),
        ] {
            let reply = titles(owner).await;
            assert_eq!(reply.data()["owned"], expected, "{owner}");
        }
        let nobody = ask(&app, "{ owned { title } }", &[]).await;
        assert_eq!(
            (nobody.code().as_str(), &nobody.json()["data"]),
            ("UNAUTHENTICATED", &Value::Null)
        );
    }
    let before = database.statements("posts_of").await;
    titles("ada").await.data();
    assert_eq!(database.statements("posts_of").await, before, "it is kept");
    // Others may get other answers, so none goes to caches on the way.
    let reply = titles("ada").await;
    assert!(
        !reply
            .headers
            .get("cache-control")
            .is_some_and(|value| value.to_str().unwrap().contains("public"))
    );
}
