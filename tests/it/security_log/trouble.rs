//! A service whose log cannot be written, fills its disk and is rotated, all under load: no request
//! fails, and no event is lost.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, stream};
use svc::prelude::*;
use svc::{DatabaseConfig, SecurityLogConfig, get_security_logger, init_security_logger};
use svc_tests::{App, SetOnDrop, eventually};

use super::files::{PATIENCE, events};
use svc_tests::is_alone;

const NAME: &str = "no_request_fails_and_no_event_is_lost";

#[svc::query]
fn hello() -> &'static str {
    "world"
}

async fn serve() -> App {
    let url = Some("postgres://nobody@127.0.0.1:1/nothing".to_owned());
    let database = DatabaseConfig {
        url,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new().config(SvcConfig {
        database,
        ..SvcConfig::default()
    });
    App::serve(options.queries(queries![hello])).await
}

/// Sends a request that is an event for each number, named by it, and as many that are none.
async fn load(app: &App, numbers: Range<usize>) {
    let each = stream::iter(numbers).for_each_concurrent(16, async |number| {
        let form = app
            .request("POST", "/graphql")
            .header("content-type", "text/plain");
        let form = form
            .header("x-request-id", format!("n-{number}"))
            .body("{}");
        assert_eq!(app.send(form).await.status, 403);
        assert_eq!(app.query("{ hello }").await.data()["hello"], "world");
    });
    each.await;
}

async fn failure(text: &str) {
    eventually(async || match get_security_logger().status().failure {
        Some(failure) if failure.contains(text) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// Renames the file whenever there is one, until it is told to stop; the files.
fn rotate(path: &Path, is_over: &AtomicBool) -> Vec<PathBuf> {
    let mut rotated = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let old = path.with_extension(rotated.len().to_string());
        if fs::rename(path, &old).is_ok() {
            rotated.push(old);
        }
        std::thread::yield_now();
    }
    rotated
}

async fn load_while_rotating(app: &App, path: &Path, numbers: Range<usize>) -> Vec<PathBuf> {
    let (path, is_over) = (path.to_owned(), std::sync::Arc::new(AtomicBool::new(false)));
    let until = is_over.clone();
    let rotating = std::thread::spawn(move || rotate(&path, &until));
    let ending = SetOnDrop(&is_over);
    load(app, numbers).await;
    assert!(get_security_logger().flush(PATIENCE));
    drop(ending);
    rotating.join().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_and_no_event_is_lost() {
    if !is_alone(module_path!(), NAME) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("security.log");
    init_security_logger(SecurityLogConfig {
        path: Some(path.clone()),
        stdout: false,
    });
    let app = serve().await;
    load(&app, 0..200).await;
    failure("No such file").await;
    fs::create_dir(path.parent().unwrap()).unwrap();
    let mut files = load_while_rotating(&app, &path, 200..600).await;
    // A disk without any room.
    if path.exists() {
        fs::rename(&path, path.with_extension("last")).unwrap();
        files.push(path.with_extension("last"));
    }
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    load(&app, 600..800).await;
    failure("No space left").await;
    fs::remove_file(&path).unwrap();
    load(&app, 800..1_000).await;
    assert!(get_security_logger().flush(PATIENCE));
    files.push(path);

    assert!(files.len() > 2, "{} files", files.len());
    let found: Vec<_> = files.iter().flat_map(|file| events(file)).collect();
    let mut numbers: Vec<usize> = found
        .iter()
        .map(|event| event["request_id"].as_str().unwrap()[2..].parse().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
    assert_eq!(get_security_logger().status().lost, 0);
    let times: Vec<_> = found
        .iter()
        .map(|event| event["timestamp"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted(), "in the order of the files");
}
