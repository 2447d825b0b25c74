//! Cargo, run by a test.

use std::process::Command;

/// Returns a command that runs cargo as a shell does.
///
/// Cargo describes the package of a test to it in variables. Build scripts such as the one of
/// `ring` would take them for a change, and nearly all crates would be built again.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let is_of_package = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if is_of_package {
            command.env_remove(name);
        }
    }

    // So would those of `proc-macro2` and `thiserror` if this differs from the build of the tests.
    match option_env!("RUSTC_BOOTSTRAP") {
        Some(value) => command.env("RUSTC_BOOTSTRAP", value),
        None => command.env_remove("RUSTC_BOOTSTRAP"),
    };

    command
}
