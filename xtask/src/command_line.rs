//! The size of the command-line tool, and the time that its help takes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::run::{cargo, root, run};

/// The most bytes of the binary.
const LARGEST: u64 = 15_000_000;

/// The longest time of `svc --help`.
const SLOWEST: Duration = Duration::from_millis(20);

/// The runs of which the fastest counts: the others say what else the machine did.
const RUNS: usize = 20;

/// Builds a release of the tool, prints both figures, and fails when one is out of bounds.
pub(crate) fn measure() -> Result<()> {
    run(cargo().args(["build", "--release", "--package", "svc-cli"]))?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let binary = folder.join("release/svc");
    let size = std::fs::metadata(&binary)?.len();
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let begun = Instant::now();
        let status = Command::new(&binary).arg("--help").stdout(Stdio::null()).status()?;
        ensure!(status.success(), "`svc --help` failed ({status})");
        fastest = fastest.min(begun.elapsed());
    }
    println!("| | measured | at most |\n|---|---|---|");
    println!("| the binary | {:.1} MB | {} MB |", size as f64 / 1e6, LARGEST / 1_000_000);
    println!("| `svc --help` | {:.1} ms | {} ms |", fastest.as_secs_f64() * 1e3, SLOWEST.as_millis());
    ensure!(size <= LARGEST, "the binary has {size} bytes");
    ensure!(fastest <= SLOWEST, "`svc --help` takes {fastest:?}");
    Ok(())
}
