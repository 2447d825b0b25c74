//! The corpus of the fuzz targets: a short example for each path through the code.

use std::path::Path;

/// Calls a function with each file of a corpus.
fn replay(target: &str, function: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let result = std::panic::catch_unwind(|| function(&bytes));
        assert!(
            result.is_ok(),
            "{}: {:?}",
            path.display(),
            String::from_utf8_lossy(&bytes)
        );
        count += 1;
    }

    assert!(count >= 10, "{count} files in the corpus of {target}");
}

#[test]
fn corpus_requests_do_not_panic() {
    replay("request", super::request);
}

#[test]
fn corpus_cursors_do_not_panic() {
    replay("cursor", super::cursor);
}

#[test]
fn corpus_manifests_do_not_panic() {
    replay("manifest", super::manifest);
}

#[cfg(feature = "websocket")]
#[test]
fn corpus_socket_messages_do_not_panic() {
    replay("socket", super::socket);
}
