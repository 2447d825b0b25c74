//! Records the processes that `svc dev` starts, so that the next run can stop the ones left behind
//! by a killed run.
//!
//! The program exits by itself when `svc dev` is gone; builds and hanging processes do not.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::failure::{Failure, Result};
use crate::process::{self, is_same, line};
use crate::project::Project;
use crate::terminal;

/// The folder of the records, one file for each run.
const FOLDER: &str = ".svc/dev";
/// The maximum time for a process to exit.
const GRACE: Duration = Duration::from_secs(3);
/// The polling interval.
const LOOK: Duration = Duration::from_millis(20);

/// The record of this run.
#[derive(Debug)]
pub(super) struct ProcessRecord {
    file: PathBuf,
}

impl ProcessRecord {
    /// Stops the processes left by other runs, and starts the record of this one.
    pub(super) fn begin(project: &Project) -> Result<Self> {
        let folder = project.create_private_folder("dev")?;
        for entry in fs::read_dir(&folder)
            .map_err(Failure::io(format_args!("read {FOLDER}")))?
            .flatten()
        {
            clean(&entry.path());
        }

        let own = std::process::id();
        let record = Self {
            file: folder.join(own.to_string()),
        };

        // The first line is this run itself: while it is active, other runs leave its processes
        // alone.
        fs::write(&record.file, line(own))
            .map_err(Failure::io(format_args!("write into {FOLDER}")))?;

        Ok(record)
    }

    /// Records the leader of a group.
    pub(super) fn add(&self, group: Pid) {
        let line = line(group.as_raw_nonzero().get().unsigned_abs());
        let written = OpenOptions::new()
            .append(true)
            .open(&self.file)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            terminal::warning(format_args!("cannot record a process in {FOLDER}: {error}"));
        }
    }
}

impl Drop for ProcessRecord {
    fn drop(&mut self) {
        // It is no longer needed; the next run removes it if this fails.
        let _ = fs::remove_file(&self.file);
    }
}

/// Stops the recorded process groups of a run, unless the run is still active.
fn clean(notes: &Path) {
    let Ok(text) = fs::read_to_string(notes) else {
        return;
    };

    let mut lines = text.lines().filter_map(process::read);
    if let Some((owner, _)) = lines
        .next()
        .filter(|(owner, moment)| is_same(*owner, moment))
    {
        terminal::warning(format_args!(
            "another svc dev is running in this folder (process {owner}); on exit, it stops the database that it has started"
        ));
        return;
    }

    for (process, moment) in lines.filter(|(process, moment)| is_same(*process, moment)) {
        end(process, moment);
        terminal::done(format_args!(
            "stopped the process {process}, which a killed svc dev left behind"
        ));
    }

    // If this fails, the next run looks at these processes again.
    let _ = fs::remove_file(notes);
}

fn end(process: u32, moment: &str) {
    let Some(group) = i32::try_from(process).ok().and_then(Pid::from_raw) else {
        return;
    };

    // It may exit meanwhile.
    let _ = kill_process_group(group, Signal::TERM);
    let begun = Instant::now();
    while is_same(process, moment) && begun.elapsed() < GRACE {
        std::thread::sleep(LOOK);
    }

    // Sent in any case, because processes of the group may outlive their leader.
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    #[test]
    fn processes_left_by_a_killed_run_are_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut left = Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap();

        let dead = folder.path().join("1");
        fs::write(
            &dead,
            format!("{} another-moment\n{}", left.id(), line(left.id())),
        )
        .unwrap();

        clean(&dead);

        assert!(!left.wait().unwrap().success() && !dead.exists());
    }

    #[test]
    fn processes_of_other_runs_or_with_a_reused_id_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap();

        let (alive, dead) = (folder.path().join("1"), folder.path().join("2"));
        fs::write(
            &alive,
            format!("{}{}", line(std::process::id()), line(other.id())),
        )
        .unwrap();

        fs::write(
            &dead,
            format!("1 another-moment\n{} another-moment\n", other.id()),
        )
        .unwrap();

        clean(&alive);
        clean(&dead);
        assert!(other.try_wait().unwrap().is_none() && alive.exists() && !dead.exists());
        other.kill().unwrap();

        other.wait().unwrap();
    }
}
