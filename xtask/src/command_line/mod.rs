//! The size of the command-line tool, the time that its help takes, and the times of `svc dev`.

mod dev;
mod project;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::run::{cargo, root, run};
use dev::Change;
use project::Project;

/// The most bytes of the binary.
const MAX_BINARY_SIZE: u64 = 15_000_000;

/// The longest time of `svc --help`.
const HELP: Duration = Duration::from_millis(20);

/// The longest time from the end of the build to the first answer, where there is no database
/// anywhere.
const ALONE: Duration = Duration::from_secs(5);

/// The same with the project's own database, which is made then.
const EMBEDDED: Duration = Duration::from_secs(10);

/// The longest time from a change of one field to the answer that has it.
const CHANGE: Duration = Duration::from_secs(10);

/// The runs of which the fastest counts: the others say what else the machine did.
const RUNS: usize = 20;

/// Builds a release of the tool, prints the figures, and fails when one is out of bounds.
pub(crate) fn measure() -> Result<()> {
    run(cargo().args(["build", "--release", "--package", "svc-cli"]))?;
    let figures = Figures::measure()?;
    figures.print()?;
    figures.check()
}

/// The figures, without their bounds.
#[derive(Debug)]
struct Figures {
    /// The bytes of the binary.
    size: u64,
    help: Duration,
    alone: Duration,
    embedded: Duration,
    change: Change,
}

impl Figures {
    fn measure() -> Result<Self> {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
        let target = target.canonicalize()?;
        let binary = target.join("release/svc");
        let size = std::fs::metadata(&binary)?.len();
        let help = help(&binary)?;
        let project = Project::make(binary, target)?;

        Ok(Self {
            size,
            help,
            alone: dev::alone(&project)?,
            embedded: dev::embedded(&project)?,
            change: dev::change(&project)?,
        })
    }

    fn print(&self) -> Result<()> {
        println!("<!-- begin command-line -->\n{}\n", machine()?);
        println!("| | measured | at most |\n|---|---:|---:|");
        println!(
            "| the binary | {:.1} MB | {} MB |",
            self.size as f64 / 1e6,
            MAX_BINARY_SIZE / 1_000_000
        );

        println!(
            "| `svc --help` | {:.1} ms | {} ms |",
            self.help.as_secs_f64() * 1e3,
            HELP.as_millis()
        );

        let times = [
            (
                "`svc dev`: the first answer after the build, without a database",
                self.alone,
                ALONE,
            ),
            (
                "the same with the project's own database, which is made then",
                self.embedded,
                EMBEDDED,
            ),
            (
                "from a change of one field to the first answer that has it",
                self.change.time,
                CHANGE,
            ),
        ];

        for (what, time, most) in times {
            println!(
                "| {what} | {:.1} s | {} s |",
                time.as_secs_f64(),
                most.as_secs()
            );
        }

        println!(
            "| requests meanwhile, and those refused | {}, {} | –, 0 |",
            self.change.requests, self.change.refused
        );
        println!("<!-- end command-line -->");

        Ok(())
    }

    /// Fails when one is out of bounds.
    fn check(&self) -> Result<()> {
        let (size, refused) = (self.size, self.change.refused);
        ensure!(size <= MAX_BINARY_SIZE, "the binary has {size} bytes");
        ensure!(refused == 0, "{refused} requests were refused");

        for (time, most) in [
            (self.help, HELP),
            (self.alone, ALONE),
            (self.embedded, EMBEDDED),
            (self.change.time, CHANGE),
        ] {
            ensure!(time <= most, "{time:?} is longer than {most:?}");
        }

        Ok(())
    }
}

/// The fastest of some runs of the help.
fn help(binary: &Path) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..RUNS {
        let begun = Instant::now();
        let status = Command::new(binary)
            .arg("--help")
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "`svc --help` failed ({status})");
        fastest = fastest.min(begun.elapsed());
    }

    Ok(fastest)
}

/// The machine and the compiler, as the other measurements tell them.
fn machine() -> Result<String> {
    let words = |program: &str, argument: &str| -> Result<String> {
        let output = Command::new(program).arg(argument).output()?;
        Ok(String::from_utf8(output.stdout)?
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" "))
    };

    let day = Command::new("date")
        .args(["-u", "+%F %H:%M UTC"])
        .output()?;
    let cores = std::thread::available_parallelism()?;
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or_default();
    let day = String::from_utf8(day.stdout)?;

    Ok(format!(
        "{}; {cores} cores, {}. Load average {load}.",
        day.trim(),
        words("rustc", "--version")?
    ))
}
