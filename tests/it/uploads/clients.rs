//! Real clients.

use svc_tests::{node, run_beside};

use super::service::{config, files_in, serve};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn third_party_clients_upload_files() {
    let dir = tempfile::tempdir().unwrap();
    let app = serve(config(dir.path())).await;
    let mut command = node("upload.mjs");
    command.arg(app.url("/graphql"));
    let output = run_beside(command).await;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(files_in(dir.path()), 0);
}
