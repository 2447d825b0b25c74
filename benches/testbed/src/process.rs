//! The kernel's figures about a process.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use procfs::process::{ClearRefs, all_processes};

/// A process and what it has started.
#[derive(Debug, Clone, Copy)]
pub struct Process(i32);

impl Process {
    /// The process with this identifier.
    pub fn new(id: i32) -> Self {
        Self(id)
    }

    /// CPU time of the process and its descendants, of the threads that still run. The kernel
    /// counts it in nanoseconds, up to date for threads that wait.
    pub fn cpu(self) -> Result<Duration> {
        let parents: HashMap<i32, i32> = all_processes()?
            .flatten()
            .filter_map(|process| process.stat().ok())
            .map(|stat| (stat.pid, stat.ppid))
            .collect();
        let descends = |mut id: i32| {
            while id != self.0 {
                match parents.get(&id) {
                    Some(parent) => id = *parent,
                    None => return false,
                }
            }
            true
        };
        let mut nanoseconds = 0;
        for id in parents.keys().copied().filter(|id| descends(*id)) {
            // One that has ended meanwhile is not counted.
            let Ok(tasks) = procfs::process::Process::new(id).and_then(|process| process.tasks())
            else {
                continue;
            };
            nanoseconds += tasks
                .flatten()
                .filter_map(|task| Some(task.schedstat().ok()?.sum_exec_runtime))
                .sum::<u64>();
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// Bytes of resident memory.
    pub fn resident(self) -> Result<u64> {
        let status = procfs::process::Process::new(self.0)?.status()?;
        Ok(status.vmrss.context("the process has no VmRSS")? * 1024)
    }

    /// The number of open descriptors.
    pub fn descriptors(self) -> Result<usize> {
        Ok(procfs::process::Process::new(self.0)?.fd_count()?)
    }

    /// The most bytes of resident memory since `reset_peak`.
    pub fn peak(self) -> Result<u64> {
        let status = procfs::process::Process::new(self.0)?.status()?;
        Ok(status.vmhwm.context("the process has no VmHWM")? * 1024)
    }

    /// Starts `peak` anew at what is resident.
    pub fn reset_peak(self) -> Result<()> {
        Ok(procfs::process::Process::new(self.0)?.clear_refs(ClearRefs::PeakRSS)?)
    }
}

/// Bytes in MiB.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
