//! The server ends with the program, however that ends.

use std::path::Path;

use svc_embedded::{Database, Options};

use crate::{
    program::{Program, command},
    support::{ask, eventually, is_alive},
};

#[tokio::test]
async fn a_killed_program_leaves_no_server() {
    let root = tempfile::tempdir().unwrap();
    let mut program = Program::start(command(root.path()));
    assert_eq!(ask(&program.url, "SELECT 'up'").await, "up");
    assert!(is_alive(program.postmaster));
    program.kill();
    let pid = program.postmaster;
    eventually("the end of postgres", || !is_alive(pid)).await;
    assert!(
        !root.path().join("postgres/postmaster.pid").exists(),
        "the shutdown was a clean one"
    );
}

#[tokio::test]
async fn a_killed_program_leaves_no_temporary_server() {
    let mut program = Program::start(command(Path::new("")));
    program.kill();
    let pid = program.postmaster;
    eventually("the end of postgres", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_start_right_after_the_kill_waits_for_the_shutdown() {
    let root = tempfile::tempdir().unwrap();
    let mut program = Program::start(command(root.path()));
    program.kill();
    let database = Database::start(Options::new(root.path())).await.unwrap();
    assert!(!database.is_shared() || database.pid() != program.postmaster);
    assert_eq!(ask(&database.url(), "SELECT 'up'").await, "up");
}

#[tokio::test]
async fn the_end_of_a_guest_leaves_the_server_running() {
    let root = tempfile::tempdir().unwrap();
    let owner = Database::start(Options::new(root.path())).await.unwrap();
    let mut guest = Program::start(command(root.path()));
    assert_eq!(guest.postmaster, owner.pid());
    guest.kill();
    assert_eq!(ask(&owner.url(), "SELECT 'up'").await, "up");
}

#[test]
fn the_server_outlives_the_runtime_that_started_it() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let start = move || {
        runtime()
            .block_on(Database::start(Options::temporary()))
            .unwrap()
    };
    let database = std::thread::spawn(start).join().unwrap();
    assert_eq!(
        runtime().block_on(ask(&database.url(), "SELECT 'up'")),
        "up"
    );
}

#[tokio::test]
async fn ctrl_c_in_the_terminal_does_not_reach_the_server() {
    let database = Database::start(Options::temporary()).await.unwrap();
    let pid = database.pid().to_string();
    let group = std::process::Command::new("ps")
        .args(["-o", "pgid=", "-p", &pid])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&group.stdout).trim(), pid);
}
