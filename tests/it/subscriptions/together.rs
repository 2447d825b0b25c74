//! Subscribers under different rules share statements, and each gets what it would have read alone.
//!
//! `SHARED_READS_SEED=7` tries others than every run, and `SHARED_READS=200` as many events as it
//! says.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::authz::RowDecision;
use svc::db::{SessionVariables, col};
use svc::futures_util::future::join_all;
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{App, TestDatabase, cases, seed};
use tokio::time::timeout;

use super::service::{Post, Posts, start};

/// The events of a run with random subscribers, and the subscribers to each.
const EVENTS: u64 = 5;
/// Events of the long suite.
const LONG: u64 = 100;
const SUBSCRIBERS: usize = 150;
const SEED: u64 = 2_026;

/// The time in which all have their answers, beside other tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// The answers to an event, for which all wait at once.
async fn answers<'a>(subscribed: impl IntoIterator<Item = &'a mut Subscribed>) -> Vec<Value> {
    let all = join_all(subscribed.into_iter().map(Subscribed::next));
    let all = timeout(PATIENCE, all).await.expect("all have an answer");
    all.into_iter()
        .map(|answer| answer.expect("the stream goes on"))
        .collect()
}

/// The row that a planned subscription answers with, read alone.
#[svc::query]
async fn alone(
    ctx: &Context<'_>,
    id: i32,
    author: Option<i32>,
    title: Option<String>,
) -> Result<FindOne<Post>> {
    let mut wanted = col("id").eq(id);
    if let Some(author) = author {
        wanted = wanted.and(col("author_id").eq(author));
    }
    if let Some(title) = title {
        wanted = wanted.and(col("title").eq(title));
    }
    Ok(ctx.db().find::<Post>().filter(wanted).one())
}

/// The policy that a request names: the form of a condition, and a value.
fn named(ctx: &Context<'_>) -> Result<RowDecision> {
    let Some((form, value)) = ctx
        .header("x-policy")
        .and_then(|policy| policy.split_once(':'))
    else {
        return Ok(RowDecision::allow());
    };
    let number = value.parse::<i64>().unwrap_or_default();
    Ok(match form {
        "tenant" => RowDecision::allow_where(col("tenant").eq(value)),
        "not" => RowDecision::allow_where(col("tenant").ne(value)),
        "among" => {
            RowDecision::allow_where(col("tenant").is_in(value.split(',').collect::<Vec<_>>()))
        }
        "from" => RowDecision::allow_where(col("id").gte(number)),
        "either" => RowDecision::allow_where(col("tenant").eq(value).or(col("author_id").eq(2))),
        "author" => RowDecision::allow_where(col("author.name").eq(value)),
        "holds" => RowDecision::allow_where(col("title").contains(value)),
        "like" => RowDecision::allow_where(col("title").like(value)),
        "deny" => RowDecision::deny(),
        _ => RowDecision::allow(),
    })
}

fn under(policy: &str, document: &str) -> Subscription {
    Subscription::new(document)
        .header("x-policy", policy)
        .unwrap()
}

async fn governed(database: &TestDatabase) -> TestService {
    let options = Posts::of(database)
        .queries(queries![alone])
        .row_policy::<Post>(named);
    start(options).await
}

/// A subscriber, and the answer to its query.
struct Subscriber {
    policy: String,
    selection: &'static str,
    variables: Value,
    answers: Subscribed,
}

impl Subscriber {
    async fn random(service: &TestService, rng: &mut StdRng) -> Self {
        let policies = [
            "all:",
            "deny:",
            "tenant:a",
            "tenant:b",
            "tenant:it's",
            "not:a",
            "not:c",
            "among:a,b",
            "among:c",
            "among:b,c,a",
            "from:2",
            "from:3",
            "from:9",
            "either:a",
            "either:x",
            "author:ada",
            "author:bob",
            "holds:1",
            "holds:%",
            "like:r%",
            "like:%4",
            "like:\\",
        ];
        let selections = ["title author { name }", "id loud"];
        let author = [Value::Null, Value::Null, json!(1), json!(2)];
        let title = [
            Value::Null,
            Value::Null,
            Value::Null,
            json!("r101"),
            json!("r104"),
        ];
        let policy = (*policies.choose(rng).unwrap()).to_owned();
        let selection = *selections.choose(rng).unwrap();
        let mut variables = json!({"author": author.choose(rng), "title": title.choose(rng)});
        // An argument that is not given is not the same as null.
        variables
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let document = document(
            "subscription",
            "changed",
            "author: $author, title: $title",
            selection,
        );
        let answers = service
            .subscribe(under(&policy, &document).variables(variables.clone()))
            .await
            .unwrap();
        Self {
            policy,
            selection,
            variables,
            answers,
        }
    }

    /// The answer to an event about a row, as a query gives it; `None` where it does not see the
    /// row, or the event says that the row is not asked for: then nobody reads it, so that no error
    /// comes of that either.
    async fn alone(&self, app: &App, id: i32) -> Option<Value> {
        if self
            .variables
            .get("author")
            .is_some_and(|author| *author != json!(author_of(id)))
        {
            return None;
        }
        let document = document(
            "query",
            "changed: alone",
            &format!("id: {id}, author: $author, title: $title"),
            self.selection,
        );
        let body = json!({"query": document, "variables": self.variables}).to_string();
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .body(body);
        let answer = app
            .send(request.header("x-policy", &self.policy))
            .await
            .json();
        (answer != json!({"data": {"changed": null}})).then(|| comparable(answer))
    }
}

fn document(kind: &str, field: &str, arguments: &str, selection: &str) -> String {
    format!("{kind} ($author: Int, $title: String) {{ {field}({arguments}) {{ {selection} }} }}")
}

/// The author of a row in the test with random subscribers.
fn author_of(id: i32) -> i32 {
    1 + id % 2
}

/// An answer without what differs from one request to the next, and from a field that may be null
/// to one that may not.
fn comparable(mut answer: Value) -> Value {
    let Some(errors) = answer.get_mut("errors").and_then(Value::as_array_mut) else {
        return answer;
    };
    for error in &mut *errors {
        error.as_object_mut().unwrap().remove("locations");
        error["extensions"]
            .as_object_mut()
            .unwrap()
            .remove("errorId");
    }
    json!({ "errors": errors })
}

#[tokio::test]
async fn random_subscribers_get_the_same_as_when_reading_alone() {
    let database = Posts::database().await;
    let rows = "INSERT INTO tb_post SELECT n, 'r' || n, 1 + n % 2, (ARRAY['a', 'b', 'it''s'])[1 + n % 3] \
        FROM generate_series(4, 12) AS n; UPDATE tb_post SET author_id = 1 + id % 2";
    database.execute(rows).await;
    let service = governed(&database).await;
    let app = App::serve_router(service.router()).await;
    let rng = &mut StdRng::seed_from_u64(seed("SHARED_READS_SEED", SEED));
    let (mut told, mut failed, mut hidden) = (0, 0, 0);
    let rounds = cases("SHARED_READS", EVENTS, LONG);
    for round in 0..rounds {
        let mut subscribers = Vec::new();
        for _ in 0..SUBSCRIBERS {
            subscribers.push(Subscriber::random(&service, rng).await);
        }
        let id = rng.random_range(1..=12);
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 'r{}' WHERE id = {id}",
                100 + round
            ))
            .await;
        let mut alone = Vec::new();
        for subscriber in &subscribers {
            alone.push(subscriber.alone(&app, id).await);
        }
        let before = database.statements("v_sub_post").await;
        let waiting = subscribers
            .iter_mut()
            .zip(&alone)
            .map(|(subscriber, alone)| {
                let patience = if alone.is_some() {
                    PATIENCE
                } else {
                    Duration::from_millis(500)
                };
                timeout(patience, subscriber.answers.next())
            });
        let answers = join_all(waiting).await;
        let statements = database.statements("v_sub_post").await - before;
        assert!(
            statements < SUBSCRIBERS as i64 / 2,
            "{statements} statements"
        );
        for ((subscriber, answer), alone) in subscribers.iter().zip(answers).zip(alone) {
            let what = format!(
                "row {id}, {} {} {}",
                subscriber.policy, subscriber.selection, subscriber.variables
            );
            let answer = answer
                .ok()
                .map(|answer| comparable(answer.expect("the stream goes on")));
            assert_eq!(answer, alone, "{what}");
            match answer {
                Some(answer) if answer.get("errors").is_some() => failed += 1,
                Some(_) => told += 1,
                None => hidden += 1,
            }
        }
    }
    let asked = usize::try_from(rounds).unwrap() * SUBSCRIBERS;
    assert!(
        told > asked / 15 && failed > asked / 300 && hidden > asked / 15,
        "{told} told, {failed} failed, {hidden} hidden"
    );
}

#[tokio::test]
async fn two_thousand_tenants_under_a_policy_take_at_most_twenty_statements() {
    let database = Posts::database().await;
    let service = governed(&database).await;
    let mut subscribed = Vec::new();
    for tenant in 0..2_000 {
        let policy = format!("not:t{tenant}");
        subscribed.push(
            service
                .subscribe(under(&policy, "subscription { changed { title } }"))
                .await
                .unwrap(),
        );
    }
    for title in ["first", "second"] {
        let before = database.statements("v_sub_post").await;
        database
            .execute(&format!(
                "UPDATE tb_post SET title = '{title}' WHERE id = 1"
            ))
            .await;
        let answers = answers(&mut subscribed).await;
        assert!(
            answers
                .iter()
                .all(|answer| *answer == json!({"data": {"changed": {"title": title}}})),
            "{title}"
        );
        let statements = database.statements("v_sub_post").await - before;
        assert!(statements <= 20, "{statements} statements");
    }
}

#[tokio::test]
async fn a_read_that_fails_is_the_error_of_its_subscriber_alone() {
    let database = Posts::database().await;
    let service = governed(&database).await;
    let mut subscribed = Vec::new();
    for number in 0..64 {
        let policy = if number == 40 {
            "like:\\".to_owned()
        } else {
            format!("like:%n%{}", "%".repeat(number))
        };
        subscribed.push(
            service
                .subscribe(under(&policy, "subscription { changed { title } }"))
                .await
                .unwrap(),
        );
    }
    let before = database.statements("v_sub_post").await;
    database
        .execute("UPDATE tb_post SET title = 'new' WHERE id = 1")
        .await;
    for (number, answer) in answers(&mut subscribed).await.into_iter().enumerate() {
        match number {
            40 => assert_ne!(answer["errors"], Value::Null, "{answer}"),
            _ => assert_eq!(
                answer,
                json!({"data": {"changed": {"title": "new"}}}),
                "{number}"
            ),
        }
    }
    // Statements that fail are not counted: halves are tried until the one is found.
    let statements = database.statements("v_sub_post").await - before;
    assert!(statements <= 8, "{statements} statements");
}

/// A view whose title is the variable of the session and its backend. It fails where the variable
/// has three characters.
const OF_SESSION: &str = "CREATE OR REPLACE VIEW v_sub_post AS SELECT id, \
    concat_ws(' ', current_setting('app.tenant', true), pg_backend_pid(), \
        1 / (length(current_setting('app.tenant', true)) - 3)) AS title, author_id, tenant FROM tb_post";

#[tokio::test]
async fn sessions_with_variables_are_read_back_to_back_on_one_connection() {
    let database = Posts::database().await;
    database.execute(OF_SESSION).await;
    let variables = SessionVariables::new().header("app.tenant", "x-tenant");
    let options = Posts::of(&database)
        .session_variables(variables)
        .allow_unbound_policies(true);
    let service = start(options).await;
    let mut subscribed = Vec::new();
    for number in 0..60 {
        // Two of each, and one for whom the view fails.
        let tenant = if number == 30 {
            "bad".to_owned()
        } else {
            format!("t{:03}", number / 2)
        };
        let subscription = Subscription::new("subscription { changed { title } }")
            .header("x-tenant", &tenant)
            .unwrap();
        subscribed.push((tenant, service.subscribe(subscription).await.unwrap()));
    }
    database
        .execute("UPDATE tb_post SET title = 'any' WHERE id = 1")
        .await;
    let answers = answers(subscribed.iter_mut().map(|(_, answers)| answers)).await;
    let mut backends = Vec::new();
    for ((tenant, _), answer) in subscribed.iter().zip(answers) {
        if tenant == "bad" {
            assert_eq!(
                answer["errors"][0]["extensions"]["code"], "INTERNAL_SERVER_ERROR",
                "{answer}"
            );
            continue;
        }
        let title = answer["data"]["changed"]["title"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        let (variable, backend) = title.split_once(' ').unwrap();
        assert_eq!(variable, *tenant);
        backends.push(backend.to_owned());
    }
    backends.dedup();
    assert_eq!(backends.len(), 1, "all were read on one connection");
}

#[tokio::test]
async fn a_stalled_subscriber_hardly_delays_the_others() {
    let database = Posts::database().await;
    let service = governed(&database).await;
    let document = "subscription { changed { title } }";
    let _waits = service
        .subscribe(under("tenant:a", document))
        .await
        .unwrap();
    let mut others = [
        service.subscribe(under("not:x", document)).await.unwrap(),
        service.subscribe(under("not:y", document)).await.unwrap(),
    ];
    for round in 0..5 {
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 'r{round}' WHERE id = 1"
            ))
            .await;
        for answer in answers(&mut others).await {
            assert_eq!(answer["data"]["changed"]["title"], format!("r{round}"));
        }
    }
}

#[tokio::test]
async fn a_waiting_subscriber_that_leaves_does_not_affect_the_others() {
    let database = Posts::database().await;
    let service = governed(&database).await;
    let document = "subscription { changed { title } }";
    for round in 0..20 {
        let mut stays = Vec::new();
        for tenant in 0..10 {
            stays.push(
                service
                    .subscribe(under(&format!("not:t{tenant}"), document))
                    .await
                    .unwrap(),
            );
        }
        let mut leaves = stays.split_off(5);
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 'r{round}' WHERE id = 1"
            ))
            .await;
        // Before they ask, while they wait for others, or while their statement runs.
        let _ = timeout(
            Duration::from_millis(round % 5),
            join_all(leaves.iter_mut().map(Subscribed::next)),
        )
        .await;
        drop(leaves);
        for answer in answers(&mut stays).await {
            assert_eq!(answer["data"]["changed"]["title"], format!("r{round}"));
        }
    }
}
