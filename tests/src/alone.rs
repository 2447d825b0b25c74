//! Tests in processes of their own.

use std::process::{Command, Stdio};

use crate::{cluster, run, swept};

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
    let shared = cluster::shared();
    let child = Command::new(std::env::current_exe().expect("the test program"))
        .args(["--exact", &test, "--nocapture"])
        .env(ALONE, "1")
        .envs(shared)
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test");
    let program = child.id();
    let output = run::wait(child, &test);
    if shared.is_some() {
        swept::drop_databases_of(program);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}
