//! A service that takes files.

use std::path::Path;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Upload, UploadConfig, UploadedFile};
use svc_tests::{App, Reply};

#[svc_type]
struct Sent {
    name: Option<String>,
    content_type: Option<String>,
    size: i32,
    text: String,
}

async fn sent(file: &UploadedFile) -> Result<Sent> {
    Ok(Sent {
        name: file.name().map(str::to_owned),
        content_type: file.content_type().map(str::to_owned),
        size: file.size().try_into()?,
        text: String::from_utf8(file.read().await?)?,
    })
}

#[svc::mutation]
fn text(text: String) -> String {
    text
}

#[svc::mutation]
fn json(value: svc::serde_json::Value) -> String {
    value.to_string()
}

#[svc_input]
struct WithFile {
    label: String,
    file: Upload,
}

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::mutation]
async fn one(ctx: &Context<'_>, file: Upload) -> Result<Sent> {
    sent(file.open(ctx)?).await
}

#[svc::mutation]
async fn maybe(ctx: &Context<'_>, file: Option<Upload>) -> Result<Option<Sent>> {
    match file {
        Some(file) => sent(file.open(ctx)?).await.map(Some),
        None => Ok(None),
    }
}

#[svc::mutation]
async fn many(ctx: &Context<'_>, files: Vec<Upload>) -> Result<Vec<Sent>> {
    let mut all = Vec::new();
    for file in files {
        all.push(sent(file.open(ctx)?).await?);
    }
    Ok(all)
}

#[svc::mutation]
async fn nested(ctx: &Context<'_>, input: WithFile) -> Result<Sent> {
    drop(input.label);
    sent(input.file.open(ctx)?).await
}

pub(super) fn options(uploads: UploadConfig) -> AppOptions {
    let config = SvcConfig {
        uploads,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello])
        .mutations(mutations![one, maybe, many, nested, text, json])
}

/// Settings that put files into a folder.
pub(super) fn config(dir: &Path) -> UploadConfig {
    UploadConfig {
        enabled: true,
        dir: Some(dir.to_owned()),
        ..UploadConfig::default()
    }
}

pub(super) async fn serve(uploads: UploadConfig) -> App {
    App::serve(options(uploads)).await
}

/// The number of files in a folder.
pub(super) fn files_in(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

pub(super) const BOUNDARY: &str = "----boundary";

/// A part of a multipart body: a field, or a file where it has a name.
pub(super) fn part(name: &str, file: Option<&str>, value: &str) -> String {
    let file = file.map_or_else(String::new, |file| format!("; filename=\"{file}\""));
    format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n"
    )
}

/// The body of parts.
pub(super) fn body(parts: &[String]) -> String {
    format!("{}--{BOUNDARY}--\r\n", parts.concat())
}

/// The parts of a request whose files are the text variables of a map.
pub(super) fn request(
    query: &str,
    variables: &Value,
    map: &Value,
    files: &[(&str, &str)],
) -> Vec<String> {
    let operations = json!({ "query": query, "variables": variables });
    let fields = [
        part("operations", None, &operations.to_string()),
        part("map", None, &map.to_string()),
    ];
    fields
        .into_iter()
        .chain(
            files
                .iter()
                .map(|(name, text)| part(name, Some("f.txt"), text)),
        )
        .collect()
}

pub(super) async fn send(app: &App, body: String) -> Reply {
    app.send(multipart(app).header("graphql-preflight", "1").body(body))
        .await
}

pub(super) fn multipart(app: &App) -> reqwest::RequestBuilder {
    app.request("POST", "/graphql").header(
        "content-type",
        format!("multipart/form-data; boundary={BOUNDARY}"),
    )
}

pub(super) const ONE: &str = "mutation ($file: Upload!) { one(file: $file) { text size } }";

/// A request with one file.
pub(super) fn with_file(text: &str) -> String {
    body(&request(
        ONE,
        &json!({ "file": null }),
        &json!({ "0": ["variables.file"] }),
        &[("0", text)],
    ))
}
