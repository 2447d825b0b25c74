//! Builds a generated crate and takes the time.

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A crate of the generated workspace.
pub(crate) struct Package {
    pub(crate) folder: PathBuf,
    pub(crate) name: &'static str,
}

/// Seconds.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    /// Of cargo, rustc and the linker.
    pub(crate) cpu: f64,
}

impl Cost {
    /// Runs a command to its end; its cost, and what it printed to standard error.
    pub(crate) fn of(mut command: Command) -> Result<(Self, String)> {
        let (start, before) = (Instant::now(), children_seconds()?);
        let output = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()?;
        let cost = Self {
            wall: start.elapsed().as_secs_f64(),
            cpu: children_seconds()? - before,
        };
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok((cost, printed))
        } else {
            Err(Error::other(printed))
        }
    }
}

/// Cargo in a folder, with a target directory.
pub(crate) fn cargo_in(folder: &Path, target: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS");
    command
}

impl Package {
    /// Builds everything once, so that later builds are of this crate alone.
    pub(crate) fn dependencies(&self) -> Result<()> {
        for arguments in [["check"].as_slice(), &["build"], &["build", "--release"]] {
            self.cargo(arguments)?;
        }
        Ok(())
    }

    /// Runs cargo for this crate.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<Cost> {
        let (cost, _) = Cost::of(self.command(arguments))?;
        eprintln!(
            "{:>12}  cargo {:<16} {:6.2} s, {:6.2} s CPU",
            self.name,
            arguments.join(" "),
            cost.wall,
            cost.cpu
        );
        Ok(cost)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = cargo_in(&self.folder, &self.folder.join("target"));
        command
            .args(arguments)
            .args(["--quiet", "-p", self.name])
            .stdout(Stdio::null());
        command
    }

    /// Forgets this crate's own artefacts.
    pub(crate) fn clean(&self, profile: &str) -> Result<()> {
        let status = self.command(&["clean", "--profile", profile]).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(Error::other("cargo clean failed"))
        }
    }

    /// Changes one line in the body of one function.
    pub(crate) fn change(&self, run: usize) -> Result<()> {
        let file = self.folder.join(self.name).join("src/m0.rs");
        let text = fs::read_to_string(&file)?;
        let stamp = std::time::UNIX_EPOCH
            .elapsed()
            .map_or(run as u128, |time| time.as_nanos());
        let line = text
            .lines()
            .find(|line| line.contains("let revision = "))
            .unwrap_or_default();
        fs::write(
            &file,
            text.replacen(line, &format!("    let revision = {stamp}_u128;"), 1),
        )
    }

    /// Lines of unoptimised LLVM IR of this crate alone.
    pub(crate) fn ir_lines(&self) -> Result<f64> {
        self.clean("dev")?;
        let mut command = self.command(&["rustc"]);
        command
            .args(["--", "--emit=llvm-ir", "-Ccodegen-units=1"])
            .env("CARGO_INCREMENTAL", "0");
        if !command.status()?.success() {
            return Err(Error::other("cargo rustc failed"));
        }
        self.artefacts(".ll")?
            .iter()
            .map(|file| Ok(fs::read_to_string(file)?.lines().count() as f64))
            .sum()
    }

    /// Bytes of unoptimised object code of this crate alone, debug information included.
    pub(crate) fn object_bytes(&self) -> Result<f64> {
        self.clean("dev")?;
        let mut command = self.command(&["rustc"]);
        command
            .args(["--", "--emit=obj", "-Ccodegen-units=1"])
            .env("CARGO_INCREMENTAL", "0");
        if !command.status()?.success() {
            return Err(Error::other("cargo rustc failed"));
        }
        self.artefacts(".o")?
            .iter()
            .map(|file| Ok(fs::metadata(file)?.len() as f64))
            .sum()
    }

    /// Files of this crate among the artefacts of debug builds.
    fn artefacts(&self, ending: &str) -> Result<Vec<PathBuf>> {
        let prefix = format!("{}-", self.name);
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder.join("target/debug/deps"))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&prefix) && name.ends_with(ending) {
                found.push(entry.path());
            }
        }
        if found.is_empty() {
            Err(Error::other(format!("no {ending} of {}", self.name)))
        } else {
            Ok(found)
        }
    }

    /// Lines that the user writes.
    pub(crate) fn source_lines(&self) -> Result<f64> {
        let files = fs::read_dir(self.folder.join(self.name).join("src"))?;
        files
            .map(|file| Ok(fs::read_to_string(file?.path())?.lines().count() as f64))
            .sum()
    }
}

/// CPU time of all children that have ended, and of theirs; Linux counts in hundredths.
fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Ok(ticks as f64 / 100.0)
}
