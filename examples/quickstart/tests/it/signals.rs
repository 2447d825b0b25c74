//! The signals that end it.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use svc_tests::Program;
use tokio::signal::unix::{SignalKind, signal};

use crate::{ask, command, connect, until_answered};

#[tokio::test]
async fn each_stop_signal_ends_the_program_gracefully() {
    heed_signals();

    for signal in ["TERM", "INT", "QUIT", "HUP"] {
        let folder = tempfile::tempdir().unwrap();

        // With a file of security events, SIGHUP has that opened again.
        let mut program =
            Program::start(command(folder.path()).env("SVC_SECURITY_LOG_PATH", "none"));
        let url = program.url();

        until_answered(&url, "{ users { name } }", "Ada").await;
        let mut database = connect(folder.path()).await;
        sqlx::raw_sql("BEGIN; LOCK TABLE tb_user")
            .execute(&mut database)
            .await
            .unwrap();
        let waiting = tokio::spawn(async move { ask(&url, "{ users { name } }").await });
        until_waiting(folder.path()).await;
        program.signal(signal);
        sqlx::raw_sql("COMMIT")
            .execute(&mut database)
            .await
            .unwrap();
        assert!(
            waiting.await.unwrap().contains("Ada"),
            "SIG{signal} cut a request off"
        );
        let (status, lines) = program.end();

        assert_eq!(status.code(), Some(0), "SIG{signal}: {lines:#?}");
    }
}

/// Has the programs that this one starts heed signals: tests that run under `nohup`, or behind a
/// shell, would hand on that some are ignored, but what is caught here is not ignored there.
fn heed_signals() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let kinds = [
        SignalKind::hangup(),
        SignalKind::interrupt(),
        SignalKind::quit(),
        SignalKind::terminate(),
    ];

    for kind in kinds
        .into_iter()
        .filter(|kind| ignored.unwrap_or(0) & (1 << (kind.as_raw_value() - 1)) != 0)
    {
        drop(signal(kind).unwrap());
    }
}

/// Waits until a request waits for a lock.
async fn until_waiting(folder: &Path) {
    let mut database = connect(folder).await;
    svc_tests::eventually(async || {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        let waiting: i64 = sqlx::query_scalar(waiting)
            .fetch_one(&mut database)
            .await
            .unwrap();
        if waiting > 0 {
            Ok(())
        } else {
            Err("nobody waits".to_owned())
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_signal_ends_the_program_at_once() {
    heed_signals();

    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program::start(&mut command(folder.path()));
        let url = program.url();

        until_answered(&url, "{ users { name } }", "Ada").await;
        let address = url.clone();
        let mut database = connect(folder.path()).await;
        sqlx::raw_sql("BEGIN; LOCK TABLE tb_user")
            .execute(&mut database)
            .await
            .unwrap();
        let waiting = tokio::spawn(async move {
            let body = r#"{"query":"{ users { name } }"}"#;
            let request = svc_tests::client()
                .post(&url)
                .header("content-type", "application/json")
                .body(body);
            request.send().await.is_err()
        });

        until_waiting(folder.path()).await;
        let address = address
            .trim_start_matches("http://")
            .trim_end_matches("/graphql")
            .to_owned();
        program.signal(signal);

        // The first one is seen once nothing is accepted any more; two at once may come as one.
        svc_tests::eventually(
            async || match tokio::net::TcpStream::connect(&address).await {
                Ok(_) => Err("it still accepts".to_owned()),
                Err(_) => Ok(()),
            },
        )
        .await;

        program.signal(signal);
        let (status, lines) = program.end();

        // An end after the time that requests in flight have would be another one.
        assert_eq!(status.code(), Some(code), "{lines:#?}");

        assert!(waiting.await.unwrap());
    }
}

#[tokio::test]
async fn a_program_with_a_file_of_security_events_opens_it_again_on_sighup() {
    heed_signals();
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(&mut command(folder.path()));
    let url = program.url();
    until_answered(&url, "{ users { name } }", "Ada").await;
    program.signal("HUP");
    program.wait_for("SIGHUP: reopening the file of the security log");
    until_answered(&url, "{ users { name } }", "Ada").await;
}

#[tokio::test]
async fn a_start_that_waits_is_ended_by_a_signal() {
    heed_signals();
    let folder = tempfile::tempdir().unwrap();
    let lock = held_lock(folder.path());
    let mut program = Program::start(&mut command(folder.path()));
    program.wait_for("waiting for another program");
    program.signal("INT");
    assert_eq!(program.end().0.code(), Some(130));
    drop(lock);
}

/// The lock under which another program would start the database.
fn held_lock(folder: &Path) -> File {
    std::fs::create_dir(folder.join(".svc")).unwrap();
    let lock = File::create(folder.join(".svc/postgres.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

#[tokio::test]
async fn the_first_process_of_a_container_is_ended_by_a_signal_while_it_starts() {
    if !Command::new("unshare")
        .args(["--pid", "--fork", "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        // Only root may make a namespace of processes here; as another user there is nothing to
        // test.
        return;
    }

    let folder = tempfile::tempdir().unwrap();
    let lock = held_lock(folder.path());
    let plain = command(folder.path());
    let mut contained = Command::new("unshare");

    contained
        .args(["--pid", "--fork", "--kill-child"])
        .arg(plain.get_program())
        .current_dir(folder.path());
    contained
        .env("SVC_PORT", "0")
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");
    let mut program = Program::start(&mut contained);
    program.wait_for("waiting for another program");
    let children = format!("/proc/{0}/task/{0}/children", program.pid());
    let child = std::fs::read_to_string(children).unwrap();
    assert!(
        Command::new("kill")
            .args(["-TERM", child.trim()])
            .status()
            .unwrap()
            .success()
    );

    assert_eq!(program.end().0.code(), Some(143));

    drop(lock);
}
