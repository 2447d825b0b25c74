//! Values inside others, which lead to their rows.

use super::*;

mod types {
    use super::*;

    #[svc_type(sql_source = "v_author")]
    pub(super) struct Author {
        id: i32,
        name: String,
    }

    #[svc_type]
    impl Author {
        #[svc(function = "initial")]
        fn initial(&self, upper: bool) -> Option<String>;
        #[svc(function = "price")]
        fn price(&self) -> Decimal;
        #[svc(function = "seen")]
        fn seen(&self) -> DateTime<Utc>;
    }

    #[svc_type(sql_source = "v_post")]
    pub(super) struct Post {
        id: i32,
        author: Author,
        readers: Vec<Author>,
    }

    #[svc_union(sql_source = "v_thing")]
    pub(super) enum Thing {
        Author(Author),
        Post(Post),
    }

    #[svc::query]
    pub(super) async fn posts() -> Vec<Post>;
    #[svc::query]
    pub(super) async fn authors() -> Vec<Author>;
    #[svc::query]
    pub(super) async fn things() -> Vec<Thing>;
    #[svc::mutation(function = "touch")]
    pub(super) async fn touch(id: i32) -> Author;
}

/// Values that are not the rows of their type lead to them by their ids.
#[tokio::test]
async fn functions_are_computed_for_embedded_values_and_members() {
    let database = TestDatabase::new(
        r#"CREATE TABLE author (id int PRIMARY KEY, name text); INSERT INTO author VALUES (1, 'ann'), (2, 'bob');
         CREATE VIEW v_author AS SELECT * FROM author;
         CREATE VIEW v_post AS SELECT 10 * id AS id, jsonb_build_object('author', to_jsonb(a), 'readers',
           jsonb_build_array('{"id": 2, "name": "x"}'::jsonb, '{"id": 9, "name": "gone"}'::jsonb)) AS data FROM author a;
         CREATE VIEW v_thing AS SELECT id, to_jsonb(a) || '{"__typename": "Author"}' AS data FROM author a
           UNION ALL SELECT id, data || jsonb_build_object('id', id, '__typename', 'Post') FROM v_post;
         CREATE FUNCTION initial(a v_author, upper boolean) RETURNS text LANGUAGE sql STABLE AS
           $$ SELECT CASE WHEN upper THEN upper(left(a.name, 1)) ELSE left(a.name, 1) END $$;
         CREATE FUNCTION price(v_author) RETURNS numeric LANGUAGE sql STABLE AS $$ SELECT $1.id * 1.10 $$;
         CREATE FUNCTION seen(v_author) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT '2026-01-02T03:04:05Z'::timestamptz $$;
         CREATE FUNCTION touch(id int) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('id', id, 'name', 'new') $$;"#,
    )
    .await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let options = options.queries(queries![types::posts, types::authors, types::things]);
    let app = App::serve(options.mutations(mutations![types::touch])).await;
    let ask = async |query: &str| app.query(query).await.data();
    let answer = ask(
        "{ posts(orderBy: [{id: ASC}]) { author { initial(upper: true) } readers { name initial(upper: false) } } }",
    )
    .await;
    let readers = json!([{ "name": "x", "initial": "b" }, { "name": "gone", "initial": null }]);
    assert_eq!(
        answer["posts"][0],
        json!({ "author": { "initial": "A" }, "readers": readers })
    );
    let answer = ask("{ posts(where: {author: {initial: {args: {upper: true}, eq: \"B\"}}}) { id } all: posts(orderBy: [{author: {price: DESC}}]) { id } }").await;
    assert_eq!(
        (&answer["posts"], column(&answer["all"], "id")),
        (&json!([{ "id": 20 }]), vec![json!(20), json!(10)])
    );
    let answer =
        ask("{ posts(where: {readers: {some: {initial: {args: {upper: true}, eq: \"B\"}}}}, limit: 1) { id } }").await;
    assert_eq!(answer["posts"].as_array().map(Vec::len), Some(1));
    let answer = ask(
        "{ things(limit: 4) { ... on Author { initial(upper: true) price seen } ... on Post { author { price } } } }",
    )
    .await;
    let seen = "2026-01-02T03:04:05Z";
    let found = answer["things"].as_array().expect("a list");
    assert!(
        found.contains(&json!({ "initial": "B", "price": "2.20", "seen": seen })),
        "{answer}"
    );
    assert!(
        found.contains(&json!({ "author": { "price": "1.10" } })),
        "{answer}"
    );
    let answer =
        ask("{ authors(where: {price: {gt: \"1.5\"}, seen: {lt: \"2027-01-01T00:00:00Z\"}}) { id price } }").await;
    assert_eq!(answer["authors"], json!([{ "id": 2, "price": "2.20" }]));
    let answer = ask("mutation { touch(id: 2) { name initial(upper: true) } }").await;
    assert_eq!(answer["touch"], json!({ "name": "new", "initial": "B" }));
}
