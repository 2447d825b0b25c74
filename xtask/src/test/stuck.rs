//! Ends test programs that hang.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Sends SIGABRT to the programs that a cargo runs, or to cargo itself where they cannot be found,
/// as on a system without `/proc`.
pub(super) fn abort_programs(cargo: u32) {
    let mut programs = children(cargo);
    if programs.is_empty() {
        programs.push(cargo);
    }

    let pids = programs
        .into_iter()
        .filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?));
    for pid in pids {
        // A program that has ended meanwhile needs no signal.
        let _ = kill_process(pid, Signal::ABORT);
    }
}

/// The processes that the threads of a process have started.
fn children(process: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };

    let lists = threads
        .filter_map(Result::ok)
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids = list.split_whitespace();
            ids.filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use rustix::process::Signal;

    use super::abort_programs;

    #[test]
    fn the_programs_of_a_process_are_aborted_and_not_itself() {
        let mut parent = Command::new("sh")
            .args(["-c", "sleep 600 & wait $!; exit $?"])
            .spawn()
            .unwrap();
        while super::children(parent.id()).is_empty() {
            std::thread::yield_now();
        }

        abort_programs(parent.id());

        let status = parent.wait().unwrap();
        assert_eq!(status.signal(), None);
        assert_eq!(status.code(), Some(128 + Signal::ABORT.as_raw()));
    }
}
