//! Files in object storage, by URLs that the service signs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use svc::Constraint;
use svc::axum::http::Method;
use svc::futures_util::FutureExt as _;
use svc::futures_util::future::BoxFuture;
use svc::prelude::*;

use super::serve;

type Sign = Box<dyn Fn(Method, &str) -> Result<String> + Send + Sync>;

struct Storage {
    sign: Sign,
    size: Box<dyn Fn(String) -> BoxFuture<'static, Result<Option<i64>>> + Send + Sync>,
}

#[svc_type(sql_source = "v_file")]
struct File {
    id: Uuid,
    name: String,
    size: i64,
}

#[svc_type]
impl File {
    fn url(&self, ctx: &Context<'_>) -> Result<String> {
        (ctx.data::<Storage>()?.sign)(Method::GET, &key(self.id))
    }
}

#[svc_type]
struct NewFile {
    id: Uuid,
    url: String,
}

fn key(id: Uuid) -> String {
    format!("files/{id}")
}

#[svc::query]
async fn files() -> Vec<File>;

#[svc::mutation]
async fn start_upload(ctx: &Context<'_>, name: String, media_type: String) -> Result<NewFile> {
    let id: Uuid = ctx
        .db()
        .call("app.add_file", [json!(name), json!(media_type)])
        .await?;
    Ok(NewFile {
        id,
        url: (ctx.data::<Storage>()?.sign)(Method::PUT, &key(id))?,
    })
}

#[svc::mutation]
async fn finish_upload(ctx: &Context<'_>, id: Uuid) -> Result<Option<File>> {
    let Some(size) = (ctx.data::<Storage>()?.size)(key(id)).await? else {
        return Err(Error::new(
            ErrorCode::NotFound,
            "the file has not been sent",
        ));
    };
    ctx.db()
        .call("app.finish_file", [json!(id), json!(size)])
        .await
}

fn with_files(options: AppOptions, storage: Storage) -> AppOptions {
    options
        .data(storage)
        .queries(queries![files])
        .mutations(mutations![start_upload, finish_upload])
        .constraint(
            Constraint::new(
                "tb_file_media_type_check",
                "a file is a PNG, a JPEG or a PDF",
            )
            .field("mediaType"),
        )
        .constraint(Constraint::new(
            "tb_file_size_check",
            "a file has at most 20 MiB",
        ))
}

#[tokio::test]
async fn a_file_is_listed_once_its_upload_is_finished() {
    let sent = Arc::new(AtomicI64::new(-1));
    let size = sent.clone();
    let storage = Storage {
        sign: Box::new(|method, key| Ok(format!("https://storage.example/{key}?for={method}"))),
        size: Box::new(move |_| {
            let size = size.load(Ordering::Relaxed);
            async move { Ok((size >= 0).then_some(size)) }.boxed()
        }),
    };
    let (app, _database) = serve("files", "", |options| with_files(options, storage)).await;
    let start = |kind: &str| {
        format!(r#"mutation {{ startUpload(name: "a", mediaType: "{kind}") {{ id url }} }}"#)
    };
    assert_eq!(
        app.query(&start("text/html")).await.message(),
        "a file is a PNG, a JPEG or a PDF"
    );
    let started = app.query(&start("image/png")).await.data()["startUpload"].clone();
    let id = started["id"].as_str().unwrap();
    assert_eq!(
        started["url"],
        format!("https://storage.example/files/{id}?for=PUT")
    );
    let finish = format!(r#"mutation {{ finishUpload(id: "{id}") {{ name size url }} }}"#);
    assert_eq!(
        app.query(&finish).await.message(),
        "the file has not been sent"
    );
    assert_eq!(
        app.query("{ files { id } }").await.data(),
        json!({ "files": [] })
    );
    sent.store(30_000_000, Ordering::Relaxed);
    assert_eq!(
        app.query(&finish).await.message(),
        "a file has at most 20 MiB"
    );
    sent.store(7, Ordering::Relaxed);
    let url = format!("https://storage.example/files/{id}?for=GET");
    let file = json!({ "name": "a", "size": 7, "url": url });
    assert_eq!(
        app.query(&finish).await.data(),
        json!({ "finishUpload": file })
    );
    assert_eq!(
        app.query("{ files { name size url } }").await.data(),
        json!({ "files": [file] })
    );
}
