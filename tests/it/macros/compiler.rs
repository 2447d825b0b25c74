//! The compiler, with the libraries that this test program was built with.

use std::cmp::Reverse;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use svc_tests::run;

/// A program that compiles only with the svc and the tokio of these tests: others, with fewer
/// features, may have been built since, as for the projects that the tests of the command line
/// make.
const ALL_FEATURES: &str = "ui/renamed/all_features.rs";

/// The error that the compiler reports about it with a svc of fewer features, whichever the tokio.
const NOT_EXPORTED: &str = "error[E0432]";

/// Checks single files, without cargo: a case takes less than a second.
pub(super) struct Compiler {
    arguments: Vec<String>,
    output: tempfile::TempDir,
}

/// The result of a check.
pub(super) struct Checked {
    pub(super) compiles: bool,
    pub(super) messages: String,
}

impl Compiler {
    /// `name` is the name of svc in the programs.
    pub(super) fn new(name: &str) -> Self {
        // Once for all tests, as each attempt is a run of the compiler.
        static FOUND: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();

        let program = std::env::current_exe().unwrap();
        let dependencies = program.parent().unwrap();
        let (svc, tokio) = FOUND.get_or_init(|| Self::find(dependencies));
        Self::with(dependencies, name, svc, tokio)
    }

    /// The svc and the tokio of these tests.
    fn find(dependencies: &Path) -> (PathBuf, PathBuf) {
        for svc in libraries(dependencies, "svc") {
            for tokio in libraries(dependencies, "tokio") {
                let compiler = Self::with(dependencies, "svc", &svc, &tokio);
                let Checked { compiles, messages } = compiler.check(Path::new(ALL_FEATURES));
                if compiles {
                    return (svc, tokio);
                }
                if messages.contains(NOT_EXPORTED) {
                    break;
                }
            }
        }
        panic!(
            "{ALL_FEATURES} compiles with none of the libraries in {}",
            dependencies.display()
        );
    }

    fn with(dependencies: &Path, name: &str, svc: &Path, tokio: &Path) -> Self {
        let arguments = vec![
            "--edition=2024".to_owned(),
            "--emit=metadata".to_owned(),
            // The cases are items without callers.
            "-Adead_code".to_owned(),
            "--diagnostic-width=140".to_owned(),
            format!("-Ldependency={}", dependencies.display()),
            format!("--extern={name}={}", svc.display()),
            format!("--extern=tokio={}", tokio.display()),
        ];
        Self {
            arguments,
            output: tempfile::tempdir().unwrap(),
        }
    }

    /// Checks a file of this package: as a library if it has no `main`.
    pub(super) fn check(&self, file: &Path) -> Checked {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(package.join(file)).unwrap();
        let kind = if text.contains("fn main") {
            "bin"
        } else {
            "lib"
        };
        let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(program);
        command
            .current_dir(package)
            .args(&self.arguments)
            .args(["--crate-type", kind, "--out-dir"])
            .arg(self.output.path().join(file))
            .arg(file);
        let output = run(&mut command);
        Checked {
            compiles: output.status.success(),
            messages: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The libraries of this name, the one that was built last first.
fn libraries(folder: &Path, name: &str) -> Vec<PathBuf> {
    let start = format!("lib{name}-");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let libraries = files.filter(|file| {
        let name = file.file_name().into_string().unwrap_or_default();
        name.starts_with(&start) && name.ends_with(".rlib")
    });
    let mut libraries: Vec<_> = libraries.collect();
    libraries.sort_by_key(|file| Reverse(file.metadata().unwrap().modified().unwrap()));
    libraries.iter().map(DirEntry::path).collect()
}
