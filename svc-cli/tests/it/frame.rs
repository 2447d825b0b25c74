//! Help, versions, exit codes and streams.

use std::process::{Command, Stdio};

use crate::support::{Place, command};

#[test]
fn prints_its_version_on_standard_output() {
    let said = Place::new().svc(&["--version"]);
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        (concat!("svc ", env!("CARGO_PKG_VERSION"), "\n"), "")
    );
    assert_eq!(said.code, Some(0));
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let place = Place::new();
    for arguments in [
        &["nope"][..],
        &[],
        &["init"],
        &["init", "shop", "--template", "nope"],
        &["migrate", "new"],
    ] {
        let said = place.svc(arguments);
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        assert!(
            said.err.contains("Usage: svc") || said.err.contains("possible values"),
            "{}",
            said.err
        );
    }
    // Values that are wrong by themselves, whatever there is on this machine.
    place.write("Cargo.toml", "");
    for arguments in [
        &["init", "bad name!"][..],
        &["init", "shop", "--database-url", "mysql://a/b"],
        &["migrate", "new", "!!"],
        &["generate", "migration", "a", "--table", "A b"],
        &["generate", "notify", "--table", "a b"],
        &["sql", "generate-pattern", "filtering", "t", "--where", "a"],
        &["sql", "generate-pattern", "relationship", "t"],
    ] {
        assert!(
            place.svc(arguments).misused().starts_with("error: "),
            "{arguments:?}"
        );
    }
}

#[test]
fn help_is_data_and_has_examples() {
    let place = Place::new();
    for arguments in [
        &["--help"][..],
        &["init", "--help"],
        &["migrate", "--help"],
        &["db", "--help"],
        &["dev", "--help"],
        &["check", "--help"],
        &["generate", "--help"],
    ] {
        let said = place.svc(arguments);
        assert_eq!(
            (said.code, said.err.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
        assert!(said.out.contains("Examples:\n  svc "), "{}", said.out);
        assert!(
            !said.out.contains('\u{1b}'),
            "colours go to terminals only: {}",
            said.out
        );
    }
}

#[test]
fn commands_outside_of_a_project_are_refused_with_a_hint() {
    let place = Place::new();
    for arguments in [
        &["migrate", "up"][..],
        &["migrate", "status"],
        &["db", "start"],
        &["db", "status"],
        &["dev"],
        &["check"],
        &["generate", "crud", "User"],
    ] {
        let words = place.svc(arguments).bad();
        assert!(
            words.starts_with("error: Not in a project directory: "),
            "{words}"
        );
        assert!(words.contains("\nhint: "), "{words}");
    }
}

#[test]
fn a_closed_output_is_no_failure() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    let mut child = command(&place.path("."));
    child
        .args(["migrate", "new", "a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = child.spawn().expect("the binary");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), "")
    );
}

#[test]
fn variables_force_and_disable_colors() {
    let place = Place::new();
    let words = |variable: &str| {
        let output = command(&place.path("."))
            .args(["db", "status"])
            .env(variable, "1")
            .output()
            .expect("the binary");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(words("CLICOLOR_FORCE").contains('\u{1b}'));
    assert!(!words("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn the_binary_needs_no_environment() {
    let output = Command::new(env!("CARGO_BIN_EXE_svc"))
        .env_clear()
        .arg("--help")
        .output()
        .expect("the binary");
    assert_eq!(output.status.code(), Some(0));
}
