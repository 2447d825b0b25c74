//! Hints that are followed: what they say mends the failure, or the next step appears.

use std::net::TcpListener;
use std::process::Command;

use crate::database::project;
use crate::support::{Place, Said, command, said};

impl Said {
    /// The command that a hint gives.
    #[track_caller]
    fn hinted(&self, before: &str) -> String {
        assert_eq!(self.code, Some(1), "{}", self.err);
        let hints = self.err.lines().filter_map(|line| line.strip_prefix("hint: "));
        let command =
            hints.filter_map(|hint| hint.split_once(before)).map(|(_, command)| command.trim().to_owned()).next();
        command.unwrap_or_else(|| panic!("no `{before}` in {}", self.err))
    }
}

impl Place {
    /// Runs a line as a user types it.
    fn type_in(&self, line: &str) -> Said {
        let svc = command(&self.path("."));
        let folder = std::path::Path::new(svc.get_program()).parent().expect("a folder").to_owned();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.current_dir(self.path(".")).env_remove("SVC_DATABASE_URL").env_remove("DATABASE_URL");
        said(shell.args(["-c", line]).env("PATH", path).output().expect("a shell"))
    }

    /// The error of a command.
    fn error(&self, arguments: &[&str]) -> String {
        let words = self.svc(arguments).err;
        words.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or_default().to_owned()
    }
}

#[test]
fn a_folder_without_a_project_becomes_one() {
    let place = Place::new();
    let hint = place.svc(&["migrate", "status"]).hinted("make one: ");
    assert_eq!(hint, "svc init NAME");
    place.type_in(&format!("{} --no-git", hint.replace("NAME", "shop"))).good();
    assert!(!place.svc_in("shop", &["migrate", "status"]).err.contains("Not in a project directory"));
}

#[test]
fn a_name_that_is_taken_or_bad_is_given_up() {
    let place = Place::new();
    place.write("shop/notes.txt", "");
    assert_eq!(place.svc(&["init", "shop", "--no-git"]).hinted("choose another name, or "), "remove it first");
    place.type_in("rm -r shop && svc init shop --no-git").good();
    let hint = place.svc(&["init", "my shop"]).hinted("`.`: ");
    place.type_in(&format!("{hint} --no-git")).good();
}

#[test]
fn folders_that_are_missing_are_made() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    place.type_in(&place.svc(&["check"]).hinted("make it: ")).good();
    assert_eq!(place.error(&["check"]), "src/main.rs does not exist");
}

#[test]
fn a_database_that_is_not_set_is_set() {
    let place = project();
    let url = place.url();
    place.write(".env", "");
    let hint = place.svc(&["migrate", "up"]).hinted("set SVC_DATABASE_URL in .env: ");
    assert!(hint.starts_with("postgresql://"), "{hint}");
    place.write(".env", &format!("SVC_DATABASE_URL={url}\n"));
    place.svc(&["migrate", "up"]).good();
}

#[test]
fn a_setting_that_cannot_be_read_is_quoted() {
    let place = project();
    let url = place.url();
    place.write(".env", &format!("SVC_DATABASE_URL={url}\nNAME=a 'b\n"));
    let hint = place.svc(&["migrate", "up"]).hinted("quote values with spaces or `#`: ");
    place.write(".env", &format!("SVC_DATABASE_URL={url}\n{hint}\n"));
    place.svc(&["migrate", "up"]).good();
}

#[test]
fn a_database_that_is_missing_is_made() {
    let place = project();
    let url = place.url();
    place.write(".env", &format!("SVC_DATABASE_URL={url}_new\n"));
    let hint = place.svc(&["migrate", "up"]).hinted("make it: svc db start, or ");
    assert_eq!(hint, format!("createdb {} on that server", place.database()));
    place.type_in(&format!("psql -qXd '{url}' -c 'CREATE DATABASE {}'", place.database())).good();
    place.svc(&["migrate", "up"]).good();
}

#[test]
fn a_reset_is_confirmed() {
    let place = project();
    let hint = place.svc(&["db", "reset"]).hinted("to go on, pass ");
    place.type_in(&format!("svc db reset {}", hint.trim_matches('`'))).good();
}

#[test]
fn files_that_cannot_run_are_mended() {
    let place = project();
    place.write("db/migrations/add.sql", "SELECT 1;");
    assert_eq!(
        place.svc(&["migrate", "up"]).hinted("name it like "),
        "20260131120000_add_stock.sql; `svc migrate new` does"
    );
    place.type_in("mv db/migrations/add.sql db/migrations/20260131120000_add_stock.sql && svc migrate up").good();
    place.write("db/migrations/20260131120001_end.sql", "SELECT 1;\nCOMMIT;\n");
    assert!(place.svc(&["migrate", "up"]).hinted("remove it: ").starts_with("each file runs in a transaction"));
    place.write(
        "db/migrations/20260131120001_end.sql",
        "CREATE TABLE a (x int);\nCREATE INDEX CONCURRENTLY i ON a (x);\n",
    );
    let hint = place.svc(&["migrate", "up"]).hinted("whose first line is ");
    place.write("db/migrations/20260131120001_end.sql", "CREATE TABLE a (x int);\n");
    let line = hint.trim_matches('`');
    place.write("db/migrations/20260131120002_i.sql", &format!("{line}\nCREATE INDEX CONCURRENTLY i ON a (x);\n"));
    place.svc(&["migrate", "up"]).good();
}

#[test]
fn a_port_that_is_taken_is_left() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let hint = place.svc(&["dev", "--no-reload", "--port", &port]).hinted("choose another port: ");
    let next = place.type_in(&format!("{hint} --no-reload"));
    assert!(!next.err.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{}", next.err);
}
