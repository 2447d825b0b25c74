//! Programs that a test runs to their end.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The longest that a program may run. Cargo may have to build svc again, or wait for another cargo.
const LONGEST: Duration = Duration::from_secs(900);

/// The longest wait for the output of a program that has been killed: the programs that it has
/// started may keep the pipes open.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Runs a program, and returns its exit status and its output.
///
/// # Panics
/// If it does not start, or still runs after a quarter of an hour. Then it is killed.
pub fn run(command: &mut Command) -> Output {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    wait(child, &format!("{command:?}"))
}

/// The same for a program that speaks to a service of the test.
pub async fn run_beside(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || run(&mut command))
        .await
        .expect("the program ends in time")
}

/// Waits for the end of a program, and returns its exit status and the contents of its pipes.
///
/// # Panics
/// If it still runs after a quarter of an hour. Then it is killed.
pub fn wait(child: Child, name: &str) -> Output {
    let process = child.id();
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    if let Ok(output) = ended.recv_timeout(LONGEST) {
        return output.expect("the end of a program");
    }

    // It is not reaped before its pipes are closed, so no other process has its number.
    let _ = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    let text = match ended.recv_timeout(LAST_WORDS) {
        Ok(Ok(Output { stdout, stderr, .. })) => {
            String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
        }
        _ => String::new(),
    };
    panic!("after {LONGEST:?} still runs {name}: {text}")
}
