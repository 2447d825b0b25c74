//! The help of every command, as `help.txt` has it. `SVC_BLESS=1` writes that file again.

use std::fmt::Write as _;

use crate::support::Place;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/help.txt");

/// The widest line of a terminal of the usual size.
const WIDTH: usize = 120;

/// The help of a command and of its subcommands.
fn collect(place: &Place, path: &[String], all: &mut String) {
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = place.svc(&arguments).good();
    assert!(help.contains("Examples:\n  svc "), "{help}");
    let _ = write!(all, "$ svc {}\n{help}\n", arguments.join(" "));
    let commands = help
        .split_once("\nCommands:\n")
        .map(|(_, rest)| rest.split("\n\n").next().unwrap_or_default());
    for line in commands.unwrap_or_default().lines() {
        let name = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
            .and_then(|rest| rest.split(' ').next());
        if let Some(name) = name.filter(|name| *name != "help") {
            collect(place, &[path, &[name.to_owned()]].concat(), all);
        }
    }
}

#[test]
fn every_command_has_its_help() {
    let mut all = String::new();
    collect(&Place::new(), &[], &mut all);
    if std::env::var_os("SVC_BLESS").is_some() {
        std::fs::write(FILE, &all).expect("the file");
    }
    let known = std::fs::read_to_string(FILE).expect("the file");
    assert!(
        known == all,
        "the help has changed; SVC_BLESS=1 writes help.txt anew:\n{all}"
    );
    for line in all.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.svc(&["completions", shell]).good();
        assert!(
            script.contains("doctor") && script.contains("generate-pattern"),
            "{shell}"
        );
    }
    assert_eq!(place.svc(&["completions", "nope"]).code, Some(2));
    let page = place.svc(&["man"]).good();
    assert!(
        page.contains(".TH svc 1") && page.contains("Exit codes: 0 success"),
        "{page}"
    );
    place.svc(&["man", "--output", "man1"]).good();
    for page in ["svc.1", "svc-migrate-up.1", "svc-schema-diff.1"] {
        assert!(
            place.read(&format!("man1/{page}")).contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    place.write("taken", "");
    assert!(
        place
            .svc(&["man", "--output", "taken"])
            .bad()
            .contains("cannot create taken")
    );
}
