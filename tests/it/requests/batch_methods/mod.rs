//! Methods that are called once for all objects of a level.

mod calls;
mod failures;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use svc::Limits;
use svc::futures_util::StreamExt as _;
use svc::futures_util::stream;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};
use tokio::sync::Barrier;

/// The calls of batch methods: the method, and the number of its objects.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(String, usize)>>>);

impl Calls {
    fn note(ctx: &Context<'_>, method: &str, objects: usize) -> Result<()> {
        let calls = ctx.data::<Self>()?;
        calls.0.lock().unwrap().push((method.to_owned(), objects));
        Ok(())
    }

    /// Takes the calls since the last time.
    fn take(&self) -> Vec<(String, usize)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// The numbers of calls that have started and ended.
#[derive(Default)]
struct Running {
    started: AtomicUsize,
    ended: AtomicUsize,
}

/// A call, until it is dropped.
struct Run<'a>(&'a Running);

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

#[svc_type(sql_source = "v_shelf")]
struct Shelf {
    id: i32,
    #[relation(to = "shelf_id", order_by = "id")]
    items: Many<Item>,
}

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
}

#[svc_type]
struct Part {
    number: i32,
}

#[svc_type]
impl Item {
    #[svc(batch, cost = 1)]
    async fn label(
        items: &[&Self],
        ctx: &Context<'_>,
        #[svc(default = "")] suffix: String,
    ) -> Result<Vec<String>> {
        Calls::note(ctx, &format!("label{suffix}"), items.len())?;
        tokio::task::yield_now().await;
        let label = |item: &&Self| format!("item {}{suffix}", item.id);
        Ok(items.iter().map(label).collect())
    }

    /// One to three of them.
    #[svc(batch, cost = 1)]
    async fn parts(items: &[&Self], ctx: &Context<'_>) -> Result<Vec<Vec<Part>>> {
        Calls::note(ctx, "parts", items.len())?;
        let parts = |item: &&Self| (0..=item.id % 3).map(|number| Part { number }).collect();
        Ok(items.iter().map(parts).collect())
    }

    #[svc(batch, cost = 1)]
    fn twice(items: &[&Self]) -> Vec<i32> {
        items.iter().map(|item| item.id * 2).collect()
    }

    #[svc(batch)]
    fn dear(items: &[&Self]) -> Vec<i32> {
        Self::twice(items)
    }

    #[svc(batch, cost = 1)]
    async fn half(items: &[&Self]) -> Vec<Result<Option<i32>>> {
        items.iter().map(|item| halved(item.id).map(Some)).collect()
    }

    #[svc(cost = 1)]
    async fn half_one(&self) -> Result<Option<i32>> {
        halved(self.id).map(Some)
    }

    #[svc(batch, cost = 1)]
    async fn exact_half(items: &[&Self]) -> Vec<Result<i32>> {
        items.iter().map(|item| halved(item.id)).collect()
    }

    #[svc(cost = 1)]
    async fn exact_half_one(&self) -> Result<i32> {
        halved(self.id)
    }

    #[svc(batch, cost = 1)]
    async fn closed(_: &[&Self]) -> Result<Vec<Option<i32>>> {
        Err(is_closed())
    }

    #[svc(cost = 1)]
    async fn closed_one(&self) -> Result<Option<i32>> {
        Err(is_closed())
    }

    #[svc(batch, cost = 1)]
    async fn unknown(_: &[&Self]) -> Result<Vec<i32>> {
        Ok(vec!["a secret".parse()?])
    }

    #[svc(cost = 1)]
    async fn unknown_one(&self) -> Result<i32> {
        Ok("a secret".parse()?)
    }

    #[svc(batch, cost = 1)]
    async fn breaks(items: &[&Self]) -> Vec<Option<i32>> {
        tokio::task::yield_now().await;
        panic!("the shelf broke under {} items", items.len())
    }

    #[svc(cost = 1)]
    async fn breaks_one(&self) -> Option<i32> {
        panic!("the shelf broke under an item")
    }

    /// As many values as `count`.
    #[svc(batch, cost = 1)]
    fn counted(_: &[&Self], count: i32) -> Vec<Option<i32>> {
        (0..count).map(Some).collect()
    }

    #[svc(batch, cost = 1)]
    async fn waits(_: &[&Self], ctx: &Context<'_>) -> Result<Vec<i32>> {
        let running = ctx.data::<Arc<Running>>()?;
        running.started.fetch_add(1, Ordering::SeqCst);
        let _run = Run(running);
        std::future::pending().await
    }

    /// Waits until it is called at another place too.
    #[svc(batch, cost = 1)]
    async fn meets(items: &[&Self], ctx: &Context<'_>) -> Result<Vec<i32>> {
        ctx.data::<Arc<Barrier>>()?.wait().await;
        Ok(items.iter().map(|item| item.id).collect())
    }
}

#[svc_type]
impl Part {
    #[svc(batch, cost = 1)]
    async fn weight(parts: &[&Self], ctx: &Context<'_>) -> Result<Vec<i32>> {
        Calls::note(ctx, "weight", parts.len())?;
        Ok(parts.iter().map(|part| part.number * 100).collect())
    }
}

/// Half of an even number.
fn halved(number: i32) -> Result<i32> {
    if number % 2 == 0 {
        Ok(number / 2)
    } else {
        Err(Error::new(
            ErrorCode::BadUserInput,
            format!("{number} is odd"),
        ))
    }
}

fn is_closed() -> Error {
    Error::new(ErrorCode::ServiceUnavailable, "the warehouse is closed").with_source("a fire")
}

#[svc::query]
async fn items() -> Vec<Item>;

#[svc::query]
async fn pages() -> Connection<Item>;

#[svc::query]
async fn shelves() -> Vec<Shelf>;

#[svc::query]
fn made(count: i32) -> Vec<Option<Item>> {
    (1..=count).map(|id| Some(Item { id })).collect()
}

#[svc::mutation(function = "app.touched")]
async fn touched() -> Vec<Item>;

#[svc::mutation]
fn added(count: i32) -> Vec<Item> {
    (1..=count).map(|id| Item { id }).collect()
}

#[svc::subscription]
fn ticks() -> impl Stream<Item = Vec<Item>> {
    stream::iter([1..=3, 4..=7]).map(|ids| ids.map(|id| Item { id }).collect::<Vec<_>>())
}

const SQL: &str = "CREATE VIEW v_shelf AS SELECT n AS id FROM generate_series(1, 10) AS n;
    CREATE VIEW v_item AS SELECT n AS id, (n + 9) / 10 AS shelf_id FROM generate_series(1, 100) AS n;
    CREATE SCHEMA app;
    CREATE FUNCTION app.touched() RETURNS jsonb LANGUAGE sql AS
    'SELECT jsonb_agg(to_jsonb(i) ORDER BY id) FROM v_item i WHERE id <= 3';";

async fn options(config: SvcConfig, calls: &Calls) -> AppOptions {
    let url = TestDatabase::shared("batch_methods", SQL).await;
    AppOptions::new()
        .config(config)
        .database_url(url)
        .queries(queries![items, pages, shelves, made])
        .mutations(mutations![touched, added])
        .subscriptions(subscriptions![ticks])
        .data(calls.clone())
}

async fn app() -> (App, Calls) {
    let calls = Calls::default();
    let options = options(SvcConfig::default(), &calls).await;
    (App::serve(options).await, calls)
}

/// The application with a largest page of three rows.
async fn app_with_small_pages() -> (App, Calls) {
    let calls = Calls::default();
    let limits = Limits {
        max_page: 3,
        default_page: 3,
        ..Limits::default()
    };
    let options = options(SvcConfig::default(), &calls).await;
    (App::serve(options.limits(limits)).await, calls)
}
