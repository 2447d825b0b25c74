//! Commands whose process starts with the default signal dispositions.

use std::{ffi::OsStr, io, process::Command};

/// Signals that a shell or `nohup` may have set to be ignored. A child inherits that, and could
/// then not be stopped by these signals.
const SIGNALS: [libc::c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// Returns a command whose process can be interrupted, independent of the dispositions of this one.
#[expect(
    unsafe_code,
    reason = "`pre_exec` has no safe form, and the standard library resets `SIGPIPE` only"
)]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new(program);

    // SAFETY: `signal` may be called between `fork` and `exec`, and the closure does nothing else.
    unsafe {
        command.pre_exec(|| {
            for signal in SIGNALS {
                if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }

    command
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const IS_INNER: &str = "SVC_EMBEDDED_TEST_IGNORES_SIGNALS";

    #[test]
    fn a_child_does_not_inherit_ignored_signals() {
        let ignoring = "trap '' INT QUIT TERM HUP; exec \"$0\" --exact spawn::tests::prints_the_ignored_signals_of_a_child --nocapture";
        let output = Command::new("sh")
            .args(["-c", ignoring])
            .arg(std::env::current_exe().unwrap())
            .env(IS_INNER, "1")
            .output()
            .unwrap();

        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let masks: Vec<u64> = output
            .lines()
            .filter_map(|line| line.split_once("SigIgn:"))
            .map(|(_, mask)| u64::from_str_radix(mask.trim(), 16).unwrap())
            .collect();

        let bits = SIGNALS
            .iter()
            .fold(0, |bits, signal| bits | 1 << (signal - 1));
        let [program, child] = masks[..] else {
            panic!("{output}")
        };

        assert_eq!((program & bits, child & bits), (bits, 0), "{output}");
    }

    /// The program that the test above starts. When run as a test itself, it does nothing.
    #[test]
    #[allow(
        clippy::print_stdout,
        reason = "the test that runs the program reads its output"
    )]
    fn prints_the_ignored_signals_of_a_child() {
        if std::env::var_os(IS_INNER).is_none() {
            return;
        }
        println!("{}", std::fs::read_to_string("/proc/self/status").unwrap());
        let child = command("cat").arg("/proc/self/status").output().unwrap();
        println!("{}", String::from_utf8_lossy(&child.stdout));
    }
}
