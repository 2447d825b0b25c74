//! Two databases that differ only in what is kept back (rows by policies, values by masks and
//! gates) give the same bytes to the same documents, by whichever path, with as many statements. So
//! nobody learns anything of it.
//!
//! `ORACLE_SEED=7` asks others than every run, and `ORACLE_DOCUMENTS=20000` (or 1000000) as many as
//! it says.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use svc_tests::{App, cases, seed};

use super::service::{ROWS, database, guarded};

/// The seed of every run.
const SEED: u64 = 2_026;
/// Documents of every run, on each kind of views.
const DOCUMENTS: u64 = 200;
/// Documents of the long suite.
const LONG: u64 = 12_000;
/// The number of documents after which the statements are counted: most documents have a statement
/// of their own, and the server keeps the counts of 20,000.
const BETWEEN_COUNTS: u64 = 1_000;
/// The mark of what is kept back, which no client names.
const PLANTED: &str = "planted7f3a";

/// Changes of all that the tenant `a` does not see: rows of others, scores of posts that are locked
/// or may be, addresses.
const OTHERS: &str = "
UPDATE tb_post SET title = 'secret planted7f3a ' || id, score = 1000 + id, locked = NOT locked
  WHERE tenant IS DISTINCT FROM 'a';
UPDATE tb_post SET score = CASE WHEN id % 2 = 0 THEN 77 + id END WHERE tenant = 'a' AND locked IS DISTINCT FROM false;
UPDATE tb_user SET name = 'hidden planted7f3a ' || id WHERE tenant IS DISTINCT FROM 'a';
UPDATE tb_user SET email = id || 'planted7f3a@example.org';
DELETE FROM tb_post WHERE tenant = 'b' AND id % 3 = 0;
INSERT INTO tb_post SELECT 100 + n, 'post 1', 'b', n, NULL, n % 9 + 1 FROM generate_series(1, 30) n;
INSERT INTO tb_user SELECT 100 + n, 'user 1', 'b' FROM generate_series(1, 5) n;";

/// One of several texts.
fn one(texts: &[&str], rng: &mut StdRng) -> String {
    (*texts.choose(rng).expect("a text")).to_owned()
}

/// A condition on posts, or on users.
fn condition(of_posts: bool, depth: usize, rng: &mut StdRng) -> String {
    let leaves: &[&str] = match of_posts {
        true => &[
            r#"title: {like: "post 1%"}"#,
            r#"title: {like: "secret 1\\"}"#,
            r#"title: {matches: "secret ("}"#,
            r#"title: {contains: "secret"}"#,
            "score: {gt: 50}",
            "score: {gte: 1000}",
            "score: {isnull: true}",
            "score: {lt: 90}",
            "locked: {isnull: true}",
            r#"tenant: {neq: "a"}"#,
            "id: {in: [1, 3, 7, 101]}",
        ],
        false => &[
            r#"name: {startswith: "user"}"#,
            r#"name: {startswith: "hidden"}"#,
            "id: {lt: 6}",
            "id: {gte: 0}",
            "id: {neq: 7}",
            r#"tenant: {eq: "b"}"#,
            r#"email: {startswith: "1"}"#,
        ],
    };
    let again = |rng: &mut StdRng| condition(of_posts, depth - 1, rng);
    match rng.random_range(0..if depth > 0 { 6 } else { 2 }) {
        2 => format!("AND: [{{{}}}, {{{}}}]", again(rng), again(rng)),
        3 => format!("OR: [{{{}}}, {{{}}}]", again(rng), again(rng)),
        4 => format!("NOT: {{{}}}", again(rng)),
        5 if of_posts => format!("author: {{{}}}", condition(false, depth - 1, rng)),
        5 => {
            let quantifier = one(&["some", "every", "none"], rng);
            format!(
                "posts: {{{quantifier}: {{{}}}}}",
                condition(true, depth - 1, rng)
            )
        }
        _ => one(leaves, rng),
    }
}

fn arguments(of_posts: bool, rng: &mut StdRng) -> String {
    let orders: &[&str] = match of_posts {
        true => &[
            "{score: DESC}, {id: ASC}",
            "{author: {name: ASC}}, {id: ASC}",
            "{title: ASC}, {id: DESC}",
            "{id: ASC}",
        ],
        false => &[
            "{name: DESC}",
            "{id: ASC}",
            "{id: DESC}",
            "{name: ASC}, {id: ASC}",
            "{tenant: ASC}",
            "{email: ASC}",
        ],
    };
    format!(
        "where: {{{}}}, orderBy: [{}]",
        condition(of_posts, 2, rng),
        one(orders, rng)
    )
}

fn document(rng: &mut StdRng) -> String {
    let posts = arguments(true, rng);
    let (limit, offset) = (rng.random_range(1..6), rng.random_range(0..3));
    match rng.random_range(0..8) {
        0 => format!("{{ posts({posts}, limit: {limit}, offset: {offset}) {{ id title score author {{ name }} }} }}"),
        1 => format!(
            "{{ page({posts}, first: {limit}) {{ totalCount edges {{ cursor node {{ id }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        ),
        2 => format!(
            "{{ totals(where: {{{}}}) {{ count sum {{ score }} max {{ title score }} groups(by: [TENANT, AUTHOR__NAME], having: {{max: {{title: {{neq: \"b\"}}}}}}) {{ key {{ tenant author {{ name }} }} count }} }} }}",
            condition(true, 2, rng)
        ),
        3 => format!(
            "{{ users({}) {{ id name posts({posts}, limit: {limit}) {{ id loud author {{ name }} }} }} }}",
            arguments(false, rng)
        ),
        4 => format!(
            "{{ page({posts}, last: {limit}) {{ nodes {{ id score author {{ id posts(orderBy: [{{score: ASC}}]) {{ score }} }} }} pageInfo {{ startCursor }} }} }}"
        ),
        5 => format!(
            "{{ totals {{ avg {{ score }} min {{ score }} countDistinct {{ title }} groups(by: [SCORE], having: {{countDistinct: {{tenant: {{gt: 0}}}}}}, orderBy: [{{key: {{score: DESC}}}}]) {{ key {{ score }} count }} }} mine: users({}) {{ id email }} }}",
            arguments(false, rng)
        ),
        6 => format!("{{ post(id: {}) {{ title loud author {{ name }} }} }}", rng.random_range(1..120)),
        _ => "{ found { id } everything inHand { id score author { name } } paged(first: 3) { nodes { score } } }"
            .to_owned(),
    }
}

/// The answer of one of the paths with its headers, but for those that are each answer's own.
async fn ask(app: &App, document: &str, path: usize) -> String {
    let request = match path {
        0 => {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("query", document)
                .finish();
            app.request("GET", &format!("/graphql?{query}"))
        }
        path => {
            let path = if path == 1 {
                "/graphql/rust"
            } else {
                "/graphql"
            };
            let request = app
                .request("POST", path)
                .header("content-type", "application/json");
            request.body(json!({ "query": document }).to_string())
        }
    };
    let reply = app
        .send(
            request
                .header("x-tenant", "a")
                .header("x-request-id", "same"),
        )
        .await;
    let headers = reply.headers.iter().filter(|(name, _)| *name != "date");
    let headers: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {value:?}"))
        .collect();
    format!("{}\n{}", headers.join("\n"), reply.text)
}

#[tokio::test(flavor = "multi_thread")]
async fn withheld_rows_change_no_response() {
    let seed = seed("ORACLE_SEED", SEED);
    let mut rng = StdRng::seed_from_u64(seed);
    let (one, other) = (
        database(ROWS).await,
        database(&[ROWS, OTHERS].concat()).await,
    );
    for (kind, source) in [("columns", "c_"), ("data", "d_"), ("table", "tv_")] {
        let (first, second) = (
            App::serve(guarded(kind, &one)).await,
            App::serve(guarded(kind, &other)).await,
        );
        let (mut denied, documents) = (0, cases("ORACLE_DOCUMENTS", DOCUMENTS, LONG));
        let part = format!("\"{source}");
        for number in 0..documents {
            let (document, path) = (document(&mut rng), rng.random_range(0..4));
            let (first, second) =
                tokio::join!(ask(&first, &document, path), ask(&second, &document, path));
            assert_eq!(first, second, "seed {seed}, {kind}: {document}");
            let is_asked =
                !first.contains("errorId") && !first.contains("GRAPHQL_VALIDATION_FAILED");
            assert!(
                is_asked && !second.contains(PLANTED),
                "{kind} {document}: {second}"
            );
            denied += u64::from(second.contains("User.email"));

            if number % BETWEEN_COUNTS == BETWEEN_COUNTS - 1 || number == documents - 1 {
                let (first, second) = (
                    one.take_statements(&part).await,
                    other.take_statements(&part).await,
                );
                assert_eq!(
                    first, second,
                    "seed {seed}: {kind} takes another number of statements before document {number}"
                );
            }
        }
        assert!(
            denied > documents / 100 && denied < documents / 2,
            "{kind}: {denied} of {documents} are denied"
        );
    }
}
