//! Installs what the tests need, where it may; otherwise says exactly what to install.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::pgbouncer;
use crate::run::{exists, run};

/// A program that the tests start.
struct Need {
    what: &'static str,
    is_there: fn() -> bool,
    /// Its package on Debian and Ubuntu.
    package: &'static str,
}

const NEEDS: [Need; 7] = [
    Need {
        what: "PostgreSQL's server",
        is_there: has_postgres,
        package: "postgresql",
    },
    Need {
        what: "PgBouncer",
        is_there: has_pgbouncer,
        package: "pgbouncer",
    },
    Need {
        what: "Redis",
        is_there: || exists("redis-server"),
        package: "redis-server",
    },
    Need {
        what: "Chromium",
        is_there: has_chromium,
        package: "chromium",
    },
    Need {
        what: "Node.js with npm",
        is_there: || exists("node") && exists("npm"),
        package: "nodejs npm",
    },
    Need {
        what: "Prometheus with promtool",
        is_there: || exists("prometheus") && exists("promtool"),
        package: "prometheus",
    },
    Need {
        what: "Python with venv and pip",
        is_there: has_python,
        package: "python3 python3-venv",
    },
];

/// Installs what is missing.
pub(crate) fn setup() -> Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.is_there)()).collect();
    if !missing.is_empty() {
        install(&missing)?;
    }

    for need in &missing {
        ensure!(
            (need.is_there)(),
            "{} is still missing after its package was installed",
            need.what
        );
    }

    npm()
}

fn has_postgres() -> bool {
    let has = |folder: &Path| folder.join("postgres").is_file();
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();

    std::env::var_os("SVC_PG_BIN").is_some_and(|folder| has(Path::new(&folder)))
        || debian
            .into_iter()
            .any(|version| has(&version.path().join("bin")))
        || exists("postgres")
        || exists("pg_config")
}

fn has_pgbouncer() -> bool {
    // A program that the environment names is not searched for.
    std::env::var_os("SVC_PGBOUNCER").is_some() || exists(&pgbouncer::program().to_string_lossy())
}

fn has_chromium() -> bool {
    std::env::var_os("CHROMIUM").is_some()
        || ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .any(exists)
}

/// Whether Python can make an environment with packages of its own.
fn has_python() -> bool {
    Command::new("python3")
        .args(["-c", "import ensurepip, venv"])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn install(missing: &[&Need]) -> Result<()> {
    let names = missing
        .iter()
        .map(|need| need.what)
        .collect::<Vec<_>>()
        .join(", ");

    let packages: Vec<&str> = missing
        .iter()
        .flat_map(|need| need.package.split(' '))
        .collect();
    if !exists("apt-get") {
        bail!(
            "the tests need {names}; install them (on Debian: apt-get install {})",
            packages.join(" ")
        );
    }

    let apt = |arguments: &[&str]| {
        // A user who is not root is asked for nothing: sudo either works at once or not.
        let mut command = if is_root() {
            Command::new("apt-get")
        } else {
            Command::new("sudo")
        };

        if !is_root() {
            command.args(["-n", "apt-get"]);
        }

        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");

        run(&mut command)
    };

    let install = [
        &["install", "-y", "-q", "--no-install-recommends"],
        packages.as_slice(),
    ]
    .concat();

    apt(&["update", "-q"])
        .and_then(|()| apt(&install))
        .map_err(|error| {
            error.context(format!(
                "the tests need {names}; run as root: apt-get install {}",
                packages.join(" ")
            ))
        })
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The npm packages, when the lock file is newer than what is installed.
fn npm() -> Result<()> {
    let folder = Path::new("tests/js");
    let modified = |path: &Path| {
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };

    let installed = modified(&folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&folder.join("package-lock.json")) {
        return Ok(());
    }

    run(Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund"])
        .current_dir(folder))
}
