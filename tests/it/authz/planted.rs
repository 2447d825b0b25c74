//! Random documents under random policies: what a policy keeps back stands in no byte of an answer,
//! on no way to one.
//!
//! Each stored text says what it is, whose, and whether its row is locked: `planted:E:b:L:3` is an
//! email of the tenant `b`, in a locked row. `PLANTED_SEED=7` asks others than every run, and
//! `PLANTED_DOCUMENTS=20000` as many as it says.

use base64::Engine as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Limits, OperationsConfig, ProtectionConfig};
use svc_tests::{App, Events, TestDatabase, cases, seed};

/// The seed of every run.
const SEED: u64 = 2_028;
/// Documents of every run.
const DOCUMENTS: u64 = 300;
/// Documents of the long suite.
const LONG: u64 = 20_000;

#[svc_type(sql_source = "v_account", authorize_fields = ["email", "pin", "entries"])]
struct Account {
    id: i32,
    name: Option<String>,
    email: Option<String>,
    pin: Option<i32>,
    note: Option<String>,
    #[relation(to = "account_id")]
    entries: Many<Entry>,
}

#[svc_type]
impl Account {
    /// A method needs rows as structs.
    fn loud(&self) -> Option<String> {
        self.note.clone()
    }
}

#[svc_type(sql_source = "v_entry", authorize_fields = ["body"])]
struct Entry {
    id: i32,
    title: Option<String>,
    body: Option<String>,
    #[relation]
    account: Option<One<Account>>,
}

#[svc::query]
async fn accounts() -> Vec<Account>;
#[svc::query]
async fn account(id: i32, email: Option<String>) -> Option<Account>;
#[svc::query]
async fn entries() -> Vec<Entry>;
#[svc::query]
async fn account_page() -> Connection<Account>;
#[svc::query]
async fn entry_page() -> Connection<Entry>;
#[svc::query]
async fn account_totals() -> Aggregate<Account>;
#[svc::query]
async fn entry_totals() -> Aggregate<Entry>;
#[svc::query]
async fn in_hand(ctx: &Context<'_>) -> Result<Vec<Account>> {
    ctx.db().find::<Account>().order_by(asc("id")).await
}
#[svc::mutation(function = "app.touch")]
async fn touch(account_id: i32) -> Option<Account>;

const SQL: &str = "
CREATE FUNCTION planted(what text, tenant text, locked boolean, id int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT format('planted:%s:%s:%s:%s', what, tenant, CASE WHEN locked THEN 'L' ELSE 'U' END, id) $$;
CREATE TABLE tb_account AS SELECT id, tenant, locked, planted('N', tenant, locked, id) AS name,
  planted('E', tenant, locked, id) AS email, 417741770 + id AS pin, planted('O', tenant, locked, id) AS note
  FROM (SELECT n AS id, (ARRAY['a', 'b'])[n % 2 + 1] AS tenant, n % 3 = 0 AS locked FROM generate_series(1, 12) n) rows;
CREATE TABLE tb_entry AS SELECT id, tenant, locked, planted('T', tenant, locked, id) AS title,
  planted('B', tenant, locked, id) AS body, id % 13 AS account_id
  FROM (SELECT n AS id, (ARRAY['a', 'b'])[n % 4 / 2 + 1] AS tenant, n % 5 = 0 AS locked FROM generate_series(1, 40) n) rows;
CREATE VIEW v_account AS SELECT * FROM tb_account;
CREATE VIEW v_entry AS SELECT * FROM tb_entry;
CREATE SCHEMA app;
CREATE FUNCTION app.touch(account_id int) RETURNS jsonb LANGUAGE sql AS
  'SELECT to_jsonb(a) FROM tb_account a WHERE id = account_id';";

const GATED: [(&str, &str); 4] = [
    ("Account.email", "planted:E:"),
    ("Account.pin", "41774177"),
    ("Account.entries", ""),
    ("Entry.body", "planted:B:"),
];

/// The rights of a request, as its headers tell the policies.
#[derive(Debug)]
struct Policy {
    /// The tenant, or `all`.
    tenant: &'static str,
    /// The gated fields that are denied, by their numbers.
    denied: Vec<usize>,
    /// Whether notes and titles of locked rows are masked.
    masks: bool,
}

impl Policy {
    fn random(rng: &mut StdRng) -> Self {
        let denied = (0..GATED.len()).filter(|_| rng.random_bool(0.4)).collect();
        Self {
            tenant: ["a", "b", "all"].choose(rng).expect("a tenant"),
            denied,
            masks: rng.random(),
        }
    }

    fn headers(&self) -> [(&'static str, String); 3] {
        let denied: Vec<_> = self.denied.iter().map(|at| GATED[*at].0).collect();
        let masks = if self.masks { "yes" } else { "no" };
        [
            ("x-tenant", self.tenant.to_owned()),
            ("x-denied", denied.join(",")),
            ("x-masks", masks.to_owned()),
        ]
    }

    /// The first text of an answer that is kept back from the request.
    fn leak(&self, text: &str) -> Option<String> {
        let denied = self
            .denied
            .iter()
            .map(|at| GATED[*at].1)
            .filter(|mark| !mark.is_empty());
        if let Some(mark) = denied.into_iter().find(|mark| text.contains(mark)) {
            return Some(mark.to_owned());
        }
        let stored = text
            .split("planted:")
            .skip(1)
            .map(|rest| rest.split(':').take(3).collect::<Vec<_>>());
        let is_kept_back = |parts: &Vec<&str>| match parts[..] {
            [what, tenant, lock] => {
                let is_others = self.tenant != "all" && tenant != self.tenant;
                is_others || (self.masks && lock == "L" && ["O", "T"].contains(&what))
            }
            // What is cut off says neither whose it is nor what.
            _ => false,
        };
        stored
            .into_iter()
            .find(is_kept_back)
            .map(|parts| parts.join(":"))
    }
}

fn options(database: &TestDatabase) -> AppOptions {
    let of_tenant = |ctx: &Context<'_>| {
        Ok(match ctx.header("x-tenant") {
            Some("all") => RowDecision::allow(),
            Some(tenant) => RowDecision::allow_where(col("tenant").eq(tenant)),
            None => RowDecision::deny(),
        })
    };
    let of_lock = |ctx: &Context<'_>| {
        Ok(match ctx.header("x-masks") {
            Some("no") => RowDecision::allow(),
            _ => RowDecision::allow_where(col("locked").eq(false)),
        })
    };
    let is_allowed = async |request: AuthorizationRequest| {
        let denied = request
            .context()
            .header("x-denied")
            .unwrap_or_default()
            .to_owned();
        !denied
            .split(',')
            .any(|name| name == request.operation_name())
    };
    let limits = Limits {
        complexity: u64::MAX,
        default_page: 100,
        ..Limits::default()
    };
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let protection = ProtectionConfig {
        batch_max: 2,
        ..ProtectionConfig::default()
    };
    AppOptions::new()
        .config(SvcConfig {
            operations,
            limits,
            protection,
            ..SvcConfig::default()
        })
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![
            accounts,
            account,
            entries,
            account_page,
            entry_page,
            account_totals,
            entry_totals,
            in_hand
        ])
        .mutations(mutations![touch])
        .row_policy::<Account>(of_tenant)
        .row_policy::<Entry>(of_tenant)
        .mask_where::<Account>("note", of_lock)
        .mask_where::<Entry>("title", of_lock)
        .authorizer(is_allowed)
}

fn one(texts: &[&str], rng: &mut StdRng) -> String {
    (*texts.choose(rng).expect("a text")).to_owned()
}

/// A condition, whose texts are none of those that are stored.
fn condition(of_accounts: bool, depth: usize, rng: &mut StdRng) -> String {
    let leaves: &[&str] = match of_accounts {
        true => &[
            r#"email: {contains: "E:"}"#,
            "pin: {gt: 41}",
            r#"note: {like: "%:L:_"}"#,
            "note: {isnull: true}",
            r#"name: {startswith: "plan"}"#,
            "id: {lt: 9}",
            "pin: {eq: \"x\"}",
        ],
        false => &[
            r#"body: {contains: "ted:B"}"#,
            r#"title: {contains: ":L:"}"#,
            "title: {isnull: false}",
            "id: {gt: 4}",
        ],
    };
    match rng.random_range(0..if depth > 0 { 6 } else { 3 }) {
        3 => format!("NOT: {{{}}}", condition(of_accounts, depth - 1, rng)),
        4 if of_accounts => format!(
            "entries: {{some: {{{}}}}}",
            condition(false, depth - 1, rng)
        ),
        4 => format!("account: {{{}}}", condition(true, depth - 1, rng)),
        5 => {
            let (one, other) = (
                condition(of_accounts, depth - 1, rng),
                condition(of_accounts, depth - 1, rng),
            );
            format!("OR: [{{{one}}}, {{{other}}}]")
        }
        _ => one(leaves, rng),
    }
}

fn arguments(of_accounts: bool, rng: &mut StdRng) -> String {
    let orders: &[&str] = match of_accounts {
        true => &[
            "id: ASC",
            "email: DESC",
            "pin: ASC",
            "note: DESC",
            "name: ASC",
        ],
        false => &[
            "id: ASC",
            "body: ASC",
            "title: DESC",
            "account: {email: ASC}",
            "account: {note: DESC}",
        ],
    };
    let mut all = Vec::new();
    if rng.random_bool(0.4) {
        all.push(format!("where: {{{}}}", condition(of_accounts, 2, rng)));
    }
    if rng.random_bool(0.5) {
        all.push(format!("orderBy: [{{{}}}]", one(orders, rng)));
    }
    all.join(", ")
}

/// The same, with parentheses, and `more` in them.
fn called(of_accounts: bool, more: &str, rng: &mut StdRng) -> String {
    match format!("{} {more}", arguments(of_accounts, rng)).trim() {
        "" => String::new(),
        all => format!("({all})"),
    }
}

fn selection(of_accounts: bool, depth: usize, rng: &mut StdRng) -> String {
    let fields: &[&str] = match of_accounts {
        true => &[
            "id",
            "name",
            "email",
            "pin",
            "note",
            "loud",
            "x: email",
            "... on Account { pin }",
        ],
        false => &["id", "title", "body", "y: body"],
    };
    let mut all = vec!["__typename".to_owned()];
    all.extend((0..rng.random_range(0..4)).map(|_| one(fields, rng)));
    if depth > 0 && rng.random_bool(0.6) {
        all.push(match of_accounts {
            true => format!(
                "entries{} {{ {} }}",
                called(false, "", rng),
                selection(false, depth - 1, rng)
            ),
            false => format!("account {{ {} }}", selection(true, depth - 1, rng)),
        });
    }
    all.sort();
    all.dedup();
    all.join(" ")
}

fn totals(of_accounts: bool, rng: &mut StdRng) -> String {
    let (texts, numbers): (&[&str], &[&str]) = match of_accounts {
        true => (&["name", "email", "note", "pin"], &["pin", "id"]),
        false => (&["title", "body"], &["id"]),
    };
    let (text, number) = (one(texts, rng), one(numbers, rng));
    let by = text.to_uppercase();
    match rng.random_range(0..5) {
        0 => format!("count max {{ {text} }} min {{ {text} }}"),
        1 => format!("sum {{ {number} }} avg {{ {number} }}"),
        2 => format!("groups(by: [{by}]) {{ key {{ {text} }} count }}"),
        3 => {
            format!(
                "groups(by: [{by}], having: {{count: {{gte: 1}}, max: {{{text}: {{isnull: false}}}}}}) {{ count }}"
            )
        }
        _ => format!(
            "countDistinct {{ {text} }} groups(orderBy: [{{countDistinct: {{{text}: DESC}}}}]) {{ count }}"
        ),
    }
}

fn document(rng: &mut StdRng) -> String {
    let of_accounts = rng.random();
    let (list, page, aggregate) = match of_accounts {
        true => ("accounts", "accountPage", "accountTotals"),
        false => ("entries", "entryPage", "entryTotals"),
    };
    let first = format!("first: {}", rng.random_range(1..5));
    match rng.random_range(0..9) {
        0..3 => format!(
            "{{ {list}{} {{ {} }} }}",
            called(of_accounts, "", rng),
            selection(of_accounts, 3, rng)
        ),
        3 | 4 => format!(
            "{{ {page}{} {{ totalCount edges {{ cursor node {{ {} }} }} pageInfo {{ startCursor endCursor }} }} }}",
            called(of_accounts, &first, rng),
            selection(of_accounts, 2, rng)
        ),
        5 => format!("{{ {aggregate} {{ {} }} }}", totals(of_accounts, rng)),
        6 => {
            let email = one(&["", r#", email: "nobody""#], rng);
            format!(
                "{{ account(id: {}{email}) {{ {} }} }}",
                rng.random_range(1..13),
                selection(true, 3, rng)
            )
        }
        7 => format!("{{ inHand {{ {} }} }}", selection(true, 2, rng)),
        _ => format!(
            "mutation {{ touch(accountId: {}) {{ {} }} }}",
            rng.random_range(1..13),
            selection(true, 2, rng)
        ),
    }
}

/// An answer with its headers, on one of the ways to one.
async fn ask(app: &App, document: &str, policy: &Policy, way: usize) -> String {
    let body = json!({ "query": document });
    let request = match way {
        0 if document.starts_with('{') => {
            let query = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("query", document)
                .finish();
            app.request("GET", &format!("/graphql?{query}"))
        }
        1 => app.request("POST", "/graphql/rust").body(body.to_string()),
        2 => app
            .request("POST", "/graphql")
            .body(json!([body]).to_string()),
        3 => app
            .request("POST", "/graphql")
            .header("accept", "text/event-stream")
            .body(body.to_string()),
        _ => app.request("POST", "/graphql").body(body.to_string()),
    };
    let request = request
        .header("content-type", "application/json")
        .header("x-request-id", "same");
    let request = policy
        .headers()
        .into_iter()
        .fold(request, |request, (name, value)| {
            request.header(name, value)
        });
    if way == 3 {
        return Events::of(request).await.whole().await;
    }
    let reply = app.send(request).await;
    format!("{:?}\n{}", reply.headers, reply.text)
}

/// The texts of a value that are Base64 of others, such as cursors, decoded.
fn decoded(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            let engines = [
                base64::engine::general_purpose::STANDARD,
                base64::engine::general_purpose::URL_SAFE_NO_PAD,
            ];
            for bytes in engines.iter().filter_map(|engine| engine.decode(text).ok()) {
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| decoded(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| decoded(field, out)),
        _ => {}
    }
}

/// The JSON of an answer, behind its headers or in an event.
fn json_of(answer: &str) -> Value {
    let lines = answer.lines().map(|line| line.trim_start_matches("data: "));
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .next_back()
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn withheld_values_never_appear_in_responses() {
    let seed = seed("PLANTED_SEED", SEED);
    let mut rng = StdRng::seed_from_u64(seed);
    let database = TestDatabase::new(SQL).await;
    let app = App::serve(options(&database)).await;
    let documents = cases("PLANTED_DOCUMENTS", DOCUMENTS, LONG);
    let (mut told, mut denied, mut invalid) = (0, 0, 0);
    for _ in 0..documents {
        let (document, policy) = (document(&mut rng), Policy::random(&mut rng));
        let way = rng.random_range(0..6);
        let mut answer = ask(&app, &document, &policy, way).await;
        let mut hidden = String::new();
        decoded(&json_of(&answer), &mut hidden);
        told += u64::from(answer.contains("planted:") || hidden.contains("planted:"));
        denied +=
            u64::from(answer.contains("FORBIDDEN") || answer.contains("FIELD_AUTHORIZATION_ERROR"));
        invalid +=
            u64::from(answer.contains("GRAPHQL_VALIDATION_FAILED") || answer.contains("errorId"));
        answer.push_str(&hidden);
        let leak = policy.leak(&answer);
        assert!(
            leak.is_none(),
            "seed {seed}, way {way}: {leak:?} is told to {policy:?} by {document}: {answer}"
        );
    }
    assert!(
        told > documents / 4 && denied > documents / 8,
        "{told} answers tell something, {denied} are denied"
    );
    assert!(
        invalid < documents / 10,
        "{invalid} of {documents} documents are not valid"
    );
}
