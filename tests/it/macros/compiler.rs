//! The compiler, with the libraries that this test program was built with.

use std::path::{Path, PathBuf};
use std::process::Command;

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
        let program = std::env::current_exe().unwrap();
        let dependencies = program.parent().unwrap();
        let library = |name: &str, library: &str| {
            let path = newest(dependencies, library);
            format!("--extern={name}={}", path.display())
        };
        let arguments = vec![
            "--edition=2024".to_owned(),
            "--emit=metadata".to_owned(),
            // The cases are items without callers.
            "-Adead_code".to_owned(),
            "--diagnostic-width=140".to_owned(),
            format!("-Ldependency={}", dependencies.display()),
            library(name, "svc"),
            library("tokio", "tokio"),
        ];
        Self { arguments, output: tempfile::tempdir().unwrap() }
    }

    /// Checks a file of this package: as a library if it has no `main`.
    pub(super) fn check(&self, file: &Path) -> Checked {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(package.join(file)).unwrap();
        let kind = if text.contains("fn main") { "bin" } else { "lib" };
        let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(package)
            .args(&self.arguments)
            .args(["--crate-type", kind, "--out-dir"])
            .arg(self.output.path().join(file))
            .arg(file)
            .output()
            .unwrap();
        Checked { compiles: output.status.success(), messages: String::from_utf8(output.stderr).unwrap() }
    }
}

/// The library that was built last: that of the tests, unless other features were built since.
fn newest(folder: &Path, name: &str) -> PathBuf {
    let start = format!("lib{name}-");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let libraries = files.filter(|file| {
        let name = file.file_name().into_string().unwrap_or_default();
        name.starts_with(&start) && name.ends_with(".rlib")
    });
    let newest = libraries.max_by_key(|file| file.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| panic!("{name} was not built")).path()
}
