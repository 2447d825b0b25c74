//! The real binary.

#![expect(clippy::expect_used, reason = "tests")]

use std::process::{Command, Output};

fn svc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_svc")).args(arguments).output().expect("the binary")
}

#[test]
fn prints_its_version_on_standard_output() {
    let output = svc(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("svc {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    for arguments in [&["nope"][..], &[]] {
        let output = svc(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: svc"));
    }
}
