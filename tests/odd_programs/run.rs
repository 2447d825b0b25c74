//! Runs the odd programs beside it, which cargo has built.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn unusual_valid_programs_run() {
    let programs = programs();
    assert!(programs.len() > 20, "{programs:?}");
    for program in programs {
        let output = Command::new(&program).output();
        let output = output.unwrap_or_else(|error| {
            panic!(
                "{}: {error}; `cargo test -p odd-programs` without `--test` builds it",
                program.display()
            )
        });
        assert!(
            output.status.success(),
            "{}: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// The program of each file in `examples`.
fn programs() -> Vec<PathBuf> {
    let built = std::env::current_exe().expect("the test program");
    let folder = built
        .ancestors()
        .nth(2)
        .expect("the folder of the profile")
        .join("examples");
    let sources = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"))
        .expect("the sources");
    let sources = sources.map(|entry| entry.expect("an entry").path());
    let names = sources.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    names
        .map(|path| folder.join(path.file_stem().expect("a name")))
        .collect()
}
