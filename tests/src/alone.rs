//! Tests in processes of their own.

use std::process::Command;

use crate::cluster;

/// Runs a test of a module (`module_path!()`) in a process of its own, where no other test runs;
/// whether this is that process. It shares the cluster of this process.
pub fn is_alone(module: &str, name: &str) -> bool {
    is_alone_with(module, name, &[])
}

/// The same, with settings in the environment of that process.
pub fn is_alone_with(module: &str, name: &str, settings: &[(&str, &str)]) -> bool {
    const ALONE: &str = "SVC_TESTS_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let test = format!("{}::{name}", module.split_once("::").expect("a module").1);
    let mut child = Command::new(std::env::current_exe().expect("the test program"));
    let output = child
        .args(["--exact", &test, "--nocapture"])
        .env(ALONE, "1")
        .envs(cluster::shared())
        .envs(settings.iter().copied())
        .output()
        .expect("the test");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}
