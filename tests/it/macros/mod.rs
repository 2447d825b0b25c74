//! The macros' messages.

mod compiler;
mod messages;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::compiler::{Checked, Compiler};
use self::messages::normalized;

/// Set to write the messages of the compiler over the expected ones.
const BLESS: &str = "SVC_BLESS";

/// Each file of `ui` has one mistake, and the compiler's messages beside it.
///
/// Valid programs are in `tests/odd_programs`.
#[test]
fn ui() {
    let cases = cases();
    assert!(cases.len() > 100, "{}", cases.len());
    let compiler = Compiler::new("svc");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    failures.lock().unwrap().extend(failure(&compiler, case));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{}\nrun with {BLESS}=1 to accept the new messages",
        failures.join("\n")
    );
}

/// The programs in the folders of `ui`, without those that take svc under another name.
fn cases() -> Vec<PathBuf> {
    let topics = entries(Path::new("ui"))
        .into_iter()
        .filter(|topic| !topic.ends_with("renamed"));
    let files = topics.flat_map(|topic| entries(&topic));
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The entries of a folder of this package, relative to the package as the folder is, in the order
/// of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| folder.join(entry.unwrap().file_name()))
        .collect();
    paths.sort();
    paths
}

/// Compares the messages for a program with the expected ones.
fn failure(compiler: &Compiler, case: &Path) -> Option<String> {
    let Checked { compiles, messages } = compiler.check(case);
    let messages = normalized(&messages);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(case.with_extension("stderr"));
    let case = case.display();
    if compiles {
        return Some(format!("{case} compiles"));
    }
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(file, messages).unwrap();
        return None;
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    (messages != expected)
        .then(|| format!("{case}: expected:\n{expected}\nthe compiler's messages:\n{messages}"))
}

/// A program that has svc under another name gets one message about it, whichever items of svc it
/// uses.
#[test]
fn another_name_of_svc_is_reported_once() {
    let messages = Compiler::new("framework")
        .check(Path::new("ui/renamed/reported_once.rs"))
        .messages;
    let errors: Vec<&str> = messages
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    let told = "error: `svc` is named `framework` in Cargo.toml; \
                write `crate = framework` in this attribute and in the others of svc";
    assert_eq!(
        errors,
        [told, "error: aborting due to 1 previous error"],
        "{messages}"
    );
    assert!(messages.contains("reported_once.rs:3:1\n"), "{messages}");
}

#[test]
fn svc_is_found_by_another_name() {
    assert_eq!(
        Compiler::new("framework")
            .check(Path::new("ui/renamed/crate_key.rs"))
            .messages,
        ""
    );
}
