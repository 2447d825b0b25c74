//! The macros' messages.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Mistakes that the macros explain. `tests/odd_programs` are those that they take: beside them, these would be built twice
/// instead of checked.
#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    for topic in [
        "arguments",
        "authorization",
        "computed",
        "enums",
        "fields",
        "inputs",
        "interfaces",
        "metrics",
        "mutations",
        "queries",
        "subscriptions",
        "relations",
        "results",
        "scalars",
        "tests",
        "types",
        "unions",
    ] {
        cases.compile_fail(format!("ui/{topic}/*.rs"));
    }
}

/// A program that has svc under another name is told so once, whatever it has of svc.
#[test]
fn another_name_of_svc_is_told_once() {
    let messages = compiled_as_framework("ui/renamed/told_once.rs");
    let errors: Vec<&str> = messages.lines().filter(|line| line.starts_with("error")).collect();
    let told = "error: `svc` is named `framework` in Cargo.toml; \
                write `crate = framework` in this attribute and in the others of svc";
    assert_eq!(errors, [told, "error: aborting due to 1 previous error"], "{messages}");
    assert!(messages.contains("told_once.rs:3:1\n"), "{messages}");
}

#[test]
fn svc_is_found_by_another_name() {
    assert_eq!(compiled_as_framework("ui/renamed/crate_key.rs"), "");
}

/// Checks a file as a library for which svc is the dependency `framework`, and returns what the compiler says.
fn compiled_as_framework(file: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let dependencies = program.parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg(format!("-Ldependency={}", dependencies.display()))
        .arg(format!("--extern=framework={}", newest_svc(dependencies).display()))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// The library that was built last: that of the tests, unless other features were asked for since.
fn newest_svc(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let libraries = files.filter(|file| {
        let name = file.file_name().into_string().unwrap_or_default();
        name.starts_with("libsvc-") && name.ends_with(".rlib")
    });
    libraries.max_by_key(|file| file.metadata().unwrap().modified().unwrap()).expect("svc was built").path()
}
