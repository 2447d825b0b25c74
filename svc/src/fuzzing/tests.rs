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
fn requests() {
    replay("request", super::request);
}

#[test]
fn cursors() {
    replay("cursor", super::cursor);
}

#[test]
fn manifests() {
    replay("manifest", super::manifest);
}

#[cfg(feature = "websocket")]
#[test]
fn sockets() {
    replay("socket", super::socket);
}
