//! The server under test: a subscription of numbers that are published, or of a row that changes.

use anyhow::Result;
use futures_util::stream;
use svc::authz::RowDecision;
use svc::db::col;
use svc::prelude::*;
use svc::{DatabaseConfig, HttpConfig, Server, SubscriptionsConfig};
use tokio::sync::watch;

use crate::Events;

/// The events.
#[derive(Clone)]
struct Published {
    /// The number that was published last.
    values: watch::Sender<i32>,
    is_of_rows: bool,
}

#[svc::query]
fn published(ctx: &Context<'_>) -> svc::Result<i32> {
    Ok(*ctx.data::<Published>()?.values.borrow())
}

#[svc::query]
fn tasks() -> i32 {
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    i32::try_from(tasks).unwrap_or(i32::MAX)
}

#[svc::mutation]
async fn publish(ctx: &Context<'_>) -> svc::Result<bool> {
    let Published { values, is_of_rows } = ctx.data::<Published>()?;
    if *is_of_rows {
        ctx.publish("row_changed", r#"{"id":1,"op":"update"}"#)
            .await?;
    } else {
        values.send_modify(|number| *number += 1);
    }
    Ok(true)
}

#[svc::subscription]
fn news(ctx: &Context<'_>) -> svc::Result<impl Stream<Item = i32>> {
    let changes = ctx.data::<Published>()?.values.subscribe();
    Ok(stream::unfold(changes, async |mut changes| {
        changes.changed().await.ok()?;
        let number = *changes.borrow_and_update();
        Some((number, changes))
    }))
}

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
    title: String,
}

#[svc::subscription(channel = "row_changed")]
async fn changed() -> Row;

const SQL: &str = "
    CREATE TABLE tb_row (id int PRIMARY KEY, title text NOT NULL, tenant text NOT NULL);
    INSERT INTO tb_row SELECT n, 'a title of ordinary length', 'nobody' FROM generate_series(1, 10000) AS n;
    CREATE VIEW v_row AS SELECT id, title, tenant FROM tb_row;";

/// Rows of all tenants but the subscriber's own, so that one row is read under as many rules as
/// there are subscribers.
fn by_tenant(ctx: &Context<'_>) -> svc::Result<RowDecision> {
    Ok(RowDecision::allow_where(
        col("tenant").ne(ctx.header("x-tenant").unwrap_or_default()),
    ))
}

pub(crate) async fn serve(events: Events) -> Result<()> {
    let subscriptions = SubscriptionsConfig {
        max_connections: 1_000_000,
        max_connections_per_address: 0,
        ..SubscriptionsConfig::default()
    };
    let http = HttpConfig {
        max_connections: 1_000_000,
        ..HttpConfig::default()
    };
    let url = std::env::var("DATABASE_URL")
        .unwrap_or_else(|_| "postgres://nobody@127.0.0.1:1/none".to_owned());
    let database = DatabaseConfig {
        url: Some(url),
        ..Default::default()
    };
    let config = SvcConfig {
        subscriptions,
        http: http.clone(),
        database,
        ..SvcConfig::default()
    };
    let state = Published {
        values: watch::Sender::new(0),
        is_of_rows: events != Events::Values,
    };
    let options = AppOptions::new().config(config).data(state);
    let options = options
        .queries(queries![published, tasks])
        .mutations(mutations![publish]);
    let options = match events {
        Events::Values => options.subscriptions(subscriptions![news]),
        Events::Rows => options
            .setup_sql(SQL)
            .subscriptions(subscriptions![changed]),
        Events::Tenants => options
            .setup_sql(SQL)
            .subscriptions(subscriptions![changed])
            .row_policy::<Row>(by_tenant),
    };
    let app = create_svc_app(options).await?;
    let server = Server::bind(([127, 0, 0, 1], 0)).await?.http(http);
    println!("{}", server.local_addr());
    server.run(app, std::future::pending()).await;
    Ok(())
}
