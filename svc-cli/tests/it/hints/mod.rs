//! Hints that are followed in the state that printed them: the failure is gone, or the next step
//! appears.

mod connecting;
mod files;
mod migrations;
mod programs;
mod queries;
mod servers;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::database::{free_port, project};
use crate::support::{Place, Said, command, said};

/// A failure, and a hint that it comes with. All steps are lines of a shell.
struct Case {
    /// The state in which the command fails.
    seed: &'static str,
    fails: &'static str,
    /// The words of the hint, up to what is used of it.
    hint: &'static str,
    /// Does what the hint says; `$HINT` holds what comes after its words.
    follow: &'static str,
    /// Words of the next step, which the command says then; empty where it succeeds.
    next: &'static str,
}

/// The words of all shells: `retry OPTIONS` has the next run take others, and `admin SQL` is a
/// superuser's.
const FUNCTIONS: &str = r#"
options() { cat .options 2>/dev/null || echo "$@"; }
retry() { echo "$*" > .options; }
url() { echo "SVC_DATABASE_URL=$1" > .env; }
admin() { psql -qX -d "$URL" -c "$1"; }
"#;

/// The steps of a case in a folder of its own.
struct Shell {
    place: Place,
    url: String,
    /// A port in use.
    taken: TcpListener,
}

/// Follows the hints of cases, each in an empty project, and reports all that do not help.
#[track_caller]
fn follow(cases: &[Case]) {
    run(cases, || {
        let place = Place::new();
        place.write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        );
        place
    });
}

/// The same in projects with databases.
#[track_caller]
fn follow_with_database(cases: &[Case]) {
    run(cases, || {
        let place = project();
        place.write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        );
        place
    });
}

#[track_caller]
fn run(cases: &[Case], place: impl Fn() -> Place) {
    let lost: Vec<String> = cases
        .iter()
        .filter_map(|case| Shell::new(place()).try_case(case).err())
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {} hints lead nowhere:\n\n{}",
        lost.len(),
        cases.len(),
        lost.join("\n\n")
    );
}

impl Shell {
    fn new(place: Place) -> Self {
        let url = if place.path(".env").exists() {
            place.url()
        } else {
            String::new()
        };
        Self {
            place,
            url,
            taken: TcpListener::bind(("127.0.0.1", 0)).expect("a port"),
        }
    }

    fn try_case(&self, case: &Case) -> Result<(), String> {
        let wrong =
            |what: &str, said: &Said| format!("{}\n{what}\n{}{}", case.fails, said.out, said.err);
        let seeded = self.line(case.seed, "");
        if seeded.code != Some(0) {
            return Err(wrong("cannot be seeded", &seeded));
        }
        let failed = self.line(case.fails, "");
        let hint = failed
            .err
            .lines()
            .find_map(|line| line.split_once(case.hint))
            .map(|(_, rest)| rest.replace('`', ""));
        let hint = hint.ok_or_else(|| wrong(&format!("has no hint `{}`", case.hint), &failed))?;
        // 2 where an argument is wrong by itself.
        if !matches!(failed.code, Some(1 | 2)) {
            return Err(wrong("does not fail", &failed));
        }
        let followed = self.line(case.follow, hint.trim());
        if followed.code != Some(0) {
            return Err(wrong(
                &format!("the hint `{hint}` cannot be followed"),
                &followed,
            ));
        }
        let again = self.line(case.fails, "");
        let is_good = if case.next.is_empty() {
            again.code == Some(0)
        } else {
            again.err.contains(case.next)
        };
        if is_good && again.err != failed.err {
            Ok(())
        } else {
            Err(wrong("goes on", &again))
        }
    }

    /// Runs a line as a user types it.
    fn line(&self, line: &str, hint: &str) -> Said {
        let svc = command(&self.place.path("."));
        let programs = Path::new(svc.get_program()).parent().expect("a folder");
        let path = format!(
            "{}:{}",
            programs.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let host = self.url.split(['@', '/']).nth(3).unwrap_or_default();
        let mut shell = Command::new("bash");
        for variable in ["SVC_DATABASE_URL", "DATABASE_URL", "CARGO_TARGET_DIR"] {
            shell.env_remove(variable);
        }
        shell
            .args(["-c", &format!("{FUNCTIONS}\n{line}")])
            .current_dir(self.place.path("."))
            .stdin(Stdio::null())
            .env("PATH", path)
            .env("PROGRAMS", programs)
            .env("URL", &self.url)
            .env("HOST", host)
            .env("PGHOST", host.split(':').next().unwrap_or_default())
            .env("PGPORT", host.split(':').nth(1).unwrap_or_default())
            .env("DB", self.url.rsplit('/').next().unwrap_or_default())
            .env(
                "TAKEN",
                self.taken
                    .local_addr()
                    .expect("its address")
                    .port()
                    .to_string(),
            )
            .env("FREE", free_port().to_string())
            .env("HINT", hint);
        said(shell.output().expect("a shell"))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if self.place.path(".svc/db.lock").exists() {
            self.line("svc db stop", "");
        }
    }
}
