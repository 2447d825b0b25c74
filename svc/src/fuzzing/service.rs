//! The service under test. Its responses depend only on the request: its database is unreachable.

use std::sync::Arc;

use axum::Router;
use tokio::runtime::Runtime;

use crate::ProtectionConfig;
use crate::app::assemble;
use crate::futures_util::stream;
use crate::http::HttpState;
use crate::prelude::*;
use svc_core::schema::Model;
use svc_engine::Limits;

/// A service and its runtime.
pub(super) struct Service {
    pub(super) runtime: Runtime,
    pub(super) router: Router,
    pub(super) model: Arc<Model>,
    #[cfg_attr(
        not(feature = "websocket"),
        expect(dead_code, reason = "only sockets are looked at")
    )]
    pub(super) state: Arc<HttpState>,
}

thread_local! {
    static SERVICE: Service = Service::new();
}

/// Calls a function with the service of this thread.
pub(super) fn with<T>(call: impl FnOnce(&Service) -> T) -> T {
    SERVICE.with(call)
}

impl Service {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");

        // Nothing listens on port 1, so a connection is refused at once.
        let options = || options().database_url("postgres://nobody@127.0.0.1:1/nothing");
        let model = Arc::new(options().model().expect("a schema"));
        let (router, state) = runtime.block_on(assemble(options())).expect("a service");

        Self {
            runtime,
            router,
            model,
            state,
        }
    }
}

/// Limits low enough for short documents to reach them.
fn options() -> AppOptions {
    let limits = Limits {
        depth: 5,
        aliases: 6,
        complexity: 2_000,
        ..Limits::default()
    };

    // CSRF protection would reject most of the fuzzed requests before they are parsed.
    let protection = ProtectionConfig {
        batch_max: 3,
        csrf: false,
        ..ProtectionConfig::default()
    };

    let config = SvcConfig {
        limits,
        protection,
        ..SvcConfig::default()
    };

    AppOptions::new()
        .config(config)
        .types(types![Cat, Dog])
        .queries(queries![
            hello, echo, color, sum, tree, pet, fails, post, posts, post_pages
        ])
        .mutations(mutations![add, create_post])
        .subscriptions(subscriptions![ticks, forever])
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    title: String,
    likes: i32,
    rating: Option<Decimal>,
    created: DateTime<Utc>,
    meta: crate::serde_json::Value,
    author_id: Uuid,
    #[relation]
    author: One<Author>,
}

#[svc_type(sql_source = "v_author")]
struct Author {
    id: Uuid,
    name: String,
    #[relation(to = "author_id")]
    posts: Many<Post>,
}

#[svc::query]
async fn post(id: Uuid) -> Option<Post>;

#[svc::query]
async fn posts() -> Vec<Post>;

#[svc::query]
async fn post_pages() -> Connection<Post>;

#[svc_type]
#[derive(Clone)]
struct Tree {
    leaf: i32,
}

#[svc_type]
impl Tree {
    fn branches(&self, count: i32) -> Vec<Tree> {
        vec![self.clone(); usize::try_from(count.clamp(0, 3)).unwrap_or(0)]
    }
}

#[svc_type]
struct Cat {
    name: String,
    lives: i32,
}

#[svc_type]
struct Dog {
    name: String,
    barks: Option<bool>,
}

#[svc_union]
enum Pet {
    Cat(Cat),
    Dog(Dog),
}

#[svc_enum]
#[derive(Clone, Copy)]
enum Color {
    Red,
    Green,
}

#[svc_input]
struct Numbers {
    first: i32,
    #[svc(default = 2)]
    second: i32,
    rest: Option<Vec<Option<i32>>>,
    inner: Option<Box<Numbers>>,
}

#[svc_input]
enum Choice {
    Text(String),
    Number(f64),
}

#[svc::query]
fn hello(#[svc(default = "world")] name: String) -> String {
    format!("hello {name}")
}

#[svc::query]
fn echo(
    json: crate::serde_json::Value,
    time: Option<DateTime<Utc>>,
    exact: Option<Decimal>,
) -> String {
    format!("{json} {time:?} {exact:?}")
}

#[svc::query]
fn color(of: Option<Color>, choice: Option<Choice>) -> Color {
    match (of, choice) {
        (Some(color), _) => color,
        (None, Some(Choice::Text(text))) if text.is_empty() => Color::Red,
        (None, Some(Choice::Number(number))) if number < 0.0 => Color::Red,
        (None, _) => Color::Green,
    }
}

#[svc::query]
fn sum(numbers: Numbers) -> f64 {
    fn sum(numbers: &Numbers) -> f64 {
        let rest = numbers
            .rest
            .iter()
            .flatten()
            .flatten()
            .copied()
            .map(f64::from);

        let inner = numbers.inner.as_deref().map_or(0.0, sum);
        f64::from(numbers.first) + f64::from(numbers.second) + rest.sum::<f64>() + inner
    }

    sum(&numbers)
}

#[svc::query]
fn tree() -> Tree {
    Tree { leaf: 1 }
}

#[svc::query]
fn pet(cat: bool) -> Pet {
    if cat {
        Pet::Cat(Cat {
            name: "Tom".to_owned(),
            lives: 9,
        })
    } else {
        Pet::Dog(Dog {
            name: "Rex".to_owned(),
            barks: None,
        })
    }
}

#[svc::query]
fn fails(id: ID) -> Result<i32> {
    Err(Error::new(
        ErrorCode::NotFound,
        format!("there is no {}", *id),
    ))
}

#[svc::mutation]
fn add(one: i32, other: i32) -> Result<i32> {
    one.checked_add(other)
        .ok_or_else(|| Error::new(ErrorCode::BadUserInput, "the sum is too large"))
}

#[svc::mutation(function = "create_post")]
async fn create_post(title: String) -> Post;

#[svc::subscription]
fn ticks(count: i32) -> impl Stream<Item = i32> {
    stream::iter(0..count.clamp(0, 5))
}

#[svc::subscription]
fn forever() -> impl Stream<Item = i32> {
    stream::pending()
}
