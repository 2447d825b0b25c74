//! Bounds of files, and bodies that are not what they should be.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::UploadConfig;
use svc_tests::eventually;
use svc_tests::raw::PATIENCE;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::service::{
    BOUNDARY, ONE, body, config, files_in, part, request, send, serve, with_file,
};

#[tokio::test]
async fn files_are_bounded_in_number_and_size() {
    let dir = tempfile::tempdir().unwrap();
    let bounds = UploadConfig {
        max_files: 2,
        max_file_size: 1_000,
        max_size: 2_350,
        ..config(dir.path())
    };
    let app = serve(bounds).await;
    assert_eq!(
        send(&app, with_file(&"x".repeat(1_000))).await.data()["one"]["size"],
        1_000
    );
    let reply = send(&app, with_file(&"x".repeat(1_001))).await;
    assert_eq!(
        (reply.status, reply.code()),
        (413, "QUERY_TOO_LARGE".to_owned())
    );
    assert_eq!(send(&app, with_file(&"x".repeat(10_000))).await.status, 413);
    let many = "mutation ($f: [Upload!]!) { many(files: $f) { size } }";
    let text = "x".repeat(900);
    let two = json!({ "0": ["variables.f.0"], "1": ["variables.f.1"] });
    let parts = request(
        many,
        &json!({ "f": [null, null] }),
        &two,
        &[("0", &text), ("1", &text)],
    );
    assert_eq!(send(&app, body(&parts)).await.status, 200);
    let longer = "x".repeat(990);
    let parts = request(
        many,
        &json!({ "f": [null, null] }),
        &two,
        &[("0", &longer), ("1", &longer)],
    );
    assert_eq!(send(&app, body(&parts)).await.status, 413);
    let three = json!({ "0": ["variables.f.0"], "1": ["variables.f.1"], "2": ["variables.f.2"] });
    let parts = request(
        many,
        &json!({ "f": [null, null, null] }),
        &three,
        &[("0", ""), ("1", ""), ("2", "")],
    );
    let reply = send(&app, body(&parts)).await;
    assert_eq!(reply.status, 400);
    assert!(
        reply.message().contains("SVC_UPLOAD_MAX_FILES"),
        "{}",
        reply.text
    );
    assert_eq!(files_in(dir.path()), 0);
}

#[tokio::test]
async fn malformed_uploads_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let operations = |variables| {
        part(
            "operations",
            None,
            &json!({ "query": ONE, "variables": variables }).to_string(),
        )
    };
    let null = || operations(json!({ "file": null }));
    let map = |map: serde_json::Value| part("map", None, &map.to_string());
    let file = |name| part(name, Some("f"), "text");
    let good = || map(json!({ "0": ["variables.file"] }));
    for parts in [
        vec![],
        vec![null()],
        vec![null(), good()],
        vec![good(), null(), file("0")],
        vec![null(), file("0"), good()],
        vec![null(), good(), file("1")],
        vec![null(), good(), file("0"), file("0")],
        vec![null(), map(json!([])), file("0")],
        vec![null(), map(json!({ "0": "variables.file" })), file("0")],
        vec![null(), map(json!({ "0": [] })), file("0")],
        vec![null(), map(json!({ "0": [7] })), file("0")],
        vec![null(), map(json!({ "0": ["variables.other"] })), file("0")],
        vec![null(), map(json!({ "0": ["query"] })), file("0")],
        vec![null(), map(json!({ "0": ["variables.file.0"] })), file("0")],
        vec![
            null(),
            map(json!({ "0": ["variables.file", "variables.file"] })),
            file("0"),
        ],
        vec![operations(json!({ "file": "text" })), good(), file("0")],
        vec![operations(json!(null)), good(), file("0")],
        vec![part("operations", None, "{"), good(), file("0")],
        vec![part("operations", None, "7"), good(), file("0")],
        vec![
            part("operations", None, &"x".repeat(1_000_001)),
            good(),
            file("0"),
        ],
    ] {
        let reply = send(&app, body(&parts)).await;
        assert!(
            matches!(reply.status, 400 | 413),
            "{parts:?}: {}",
            reply.text
        );
    }
    for broken in [
        "",
        "text",
        &format!("--{BOUNDARY}"),
        &body(&[null(), good(), file("0")])[..300],
    ] {
        assert_eq!(send(&app, broken.to_owned()).await.status, 400, "{broken}");
    }
    assert_eq!(
        send(&app, with_file("still")).await.data()["one"]["text"],
        "still"
    );
    assert_eq!(files_in(dir.path()), 0);
}

/// A client that stops in the middle leaves nothing behind, and neither does one that is too slow.
#[tokio::test]
async fn half_a_file_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(UploadConfig {
        timeout: Duration::from_secs(10),
        ..config(dir.path())
    })
    .await;
    let whole = with_file(&"x".repeat(100_000));
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ngraphql-preflight: 1\r\ncontent-type: multipart/form-data; \
         boundary={BOUNDARY}\r\ncontent-length: {}\r\n\r\n",
        whole.len()
    );
    for closes in [true, false] {
        let mut stream = tokio::net::TcpStream::connect(app.address()).await.unwrap();
        stream
            .write_all(format!("{head}{}", &whole[..50_000]).as_bytes())
            .await
            .unwrap();
        let written = async || {
            if files_in(dir.path()) == 1 {
                Ok(())
            } else {
                Err("no file".to_owned())
            }
        };
        eventually(written).await;
        let began = Instant::now();
        if closes {
            drop(stream);
        } else {
            let mut answer = vec![0; 12];
            tokio::time::timeout(PATIENCE, stream.read_exact(&mut answer))
                .await
                .expect("no answer in time")
                .unwrap();
            assert_eq!(String::from_utf8(answer).unwrap(), "HTTP/1.1 408");
        }
        eventually(async || match files_in(dir.path()) {
            0 => Ok(()),
            left => Err(format!("{left} files")),
        })
        .await;
        assert!(
            began.elapsed() < Duration::from_secs(25),
            "{:?}",
            began.elapsed()
        );
    }
}
