//! Node and the browser.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `node SCRIPT` in `tests/js`, with its packages installed.
///
/// # Panics
/// When `cargo xtask setup` has not run.
pub fn node(script: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("js");
    assert!(
        folder.join("node_modules/graphql").exists(),
        "the npm packages of tests/js are missing; run `cargo xtask setup`"
    );
    let mut command = Command::new("node");
    command.arg(script).current_dir(folder);
    command
}

/// The browser.
///
/// # Panics
/// When there is none.
pub fn chromium() -> PathBuf {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|path| path.exists());
    found.expect("no Chromium; run `cargo xtask setup`, or name one in the variable CHROMIUM")
}
