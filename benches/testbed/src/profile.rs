//! A server under callgrind.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{Client, Request, Server};

/// The server, a connection to it, and where the counts go.
#[derive(Debug)]
pub struct Profile {
    client: Client,
    server: Server,
    folder: PathBuf,
    dumps: usize,
}

impl Profile {
    /// Starts svc-target for a layout, with these variables, and waits until it answers `probe`.
    pub fn start(
        program: &Path,
        layout: &str,
        variables: &[(&str, &str)],
        database: &str,
        folder: &Path,
        probe: &Request,
    ) -> Result<Self> {
        if Command::new("valgrind")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            bail!("install valgrind first (on Debian, as root: apt-get install valgrind)");
        }
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!(
                "--callgrind-out-file={}",
                folder.join("callgrind.out").display()
            ))
            .arg(program)
            .arg(layout)
            .env("DATABASE_URL", database)
            .envs(variables.iter().copied());
        let server = Server::start(command, probe)?;
        Ok(Self {
            client: server.client()?,
            server,
            folder: folder.to_owned(),
            dumps: 0,
        })
    }

    /// Sends a request; an answer with errors is an error.
    pub fn send(&mut self, request: &Request) -> Result<()> {
        self.client.send(request).map(drop)
    }

    /// Counts from here.
    pub fn zero(&mut self) -> Result<()> {
        self.control("--zero")
    }

    /// The instructions since the last count or `zero`.
    pub fn dump(&mut self) -> Result<u64> {
        self.control("--dump")?;
        self.dumps += 1;
        let path = self.last();
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let total = text
            .lines()
            .find_map(|line| line.strip_prefix("totals: "))
            .context("the dump has no totals")?;
        Ok(total.trim().parse()?)
    }

    /// Writes the functions of the last dump, the dearest first.
    pub fn annotate(&self, name: &str) -> Result<()> {
        let out = File::create(self.folder.join(name))?;
        let mut command = Command::new("callgrind_annotate");
        // Below 100, the functions in which the threads began before the count would be all.
        let status = command
            .args(["--auto=no", "--inclusive=no", "--threshold=100"])
            .arg(self.last())
            .stdout(out)
            .status()?;
        ensure!(status.success(), "callgrind_annotate failed ({status})");
        Ok(())
    }

    fn last(&self) -> PathBuf {
        self.folder.join(format!("callgrind.out.{}", self.dumps))
    }

    fn control(&self, what: &str) -> Result<()> {
        let output = Command::new("callgrind_control")
            .arg(what)
            .arg(self.server.id().to_string())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success() && said.contains("OK."),
            "callgrind_control {what}: {said}"
        );
        Ok(())
    }
}
