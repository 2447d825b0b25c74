//! Builds with cargo, and finds the resulting program.

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::Pid;
use serde::Deserialize;

use super::cargo::cargo;
use super::{Choice, targets};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// Crates whose types are part of svc's public API.
const REEXPORTED: [&str; 4] = ["axum", "async_graphql", "serde_json", "sqlx"];

/// A built program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) executable: PathBuf,
}

/// A line of cargo's output.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    target: Option<Target>,
    message: Option<Diagnostic>,
}

/// The compiler's output.
#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// The hint if cargo does not find the crate `svc`.
const SOURCES: &str = "in Cargo.toml, name a checkout of svc, svc = { path = \"…/svc\" }, or a repository, \
    svc = { git = \"…\", rev = \"…\" }; svc init writes them with --svc-path and --svc-git";

/// Builds the program. The output of cargo and the compiler goes to standard error.
pub(crate) fn build(project: &Project, choice: &Choice) -> Result<Built> {
    Build::start(project, choice, Group::Shared)?.finish()
}

/// The process group of cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The group of this command: Ctrl-C ends both.
    Shared,
    /// A separate group, which can be stopped with all its processes.
    Own,
}

/// A running build.
#[derive(Debug)]
pub(crate) struct Build {
    cargo: Child,
    root: PathBuf,
}

impl Build {
    /// Starts cargo.
    pub(crate) fn start(project: &Project, choice: &Choice, group: Group) -> Result<Self> {
        let (package, binary) = choice.parts();
        targets::check(project, choice, cargo().get_program())?;
        let mut cargo = cargo();
        cargo
            .args(["build", "--message-format=json-diagnostic-rendered-ansi"])
            .current_dir(project.root());
        cargo.args(
            package
                .map(|package| ["--package", package])
                .into_iter()
                .flatten(),
        );

        match binary {
            Some(binary) => cargo.args(["--bin", binary]),
            None => cargo.arg("--bins"),
        };

        if group == Group::Own {
            cargo.process_group(0);
        }

        let cargo = cargo
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                let hint = (error.kind() == ErrorKind::NotFound)
                    .then(|| "install Rust: https://rustup.rs".to_owned());
                Failure::new(format!("cannot run cargo: {error}"))
                    .hints(hint)
                    .finally()
            })?;

        Ok(Self {
            cargo,
            root: project.root().to_owned(),
        })
    }

    /// The process ID of cargo.
    pub(crate) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.cargo.id()).ok()?)
    }

    /// Waits until it exits.
    pub(crate) fn finish(mut self) -> Result<Built> {
        let (mut programs, mut errors) = (Vec::new(), String::new());
        for line in self
            .cargo
            .stdout
            .take()
            .into_iter()
            .flat_map(|output| BufReader::new(output).lines())
        {
            let line = line.map_err(Failure::io("read cargo's output"))?;
            let Ok(message) = serde_json::from_str::<Message>(&line) else {
                continue;
            };

            if let Some(Diagnostic {
                level,
                rendered: Some(text),
            }) = &message.message
            {
                terminal::say(text.trim_end());
                if level == "error" {
                    errors.push_str(&anstream::adapter::strip_str(text).to_string());
                }
            }

            programs.extend(program(message));
        }

        let status = self.cargo.wait().map_err(Failure::io("wait for cargo"))?;
        if !status.success() && errors.is_empty() {
            return Err(not_begun(&self.root));
        }

        if !status.success() {
            let failure = Failure::new("the program does not compile")
                .hint("see the compiler's messages above");
            return Err(failure
                .hints(of_another_version(&errors))
                .with_details(errors));
        }

        choose(programs)
    }
}

/// The failure of a build that cargo stopped before the compiler ran.
fn not_begun(root: &Path) -> Failure {
    // Cargo's own output has gone to the terminal; `metadata` fails for the same reasons, with
    // output that can be read.
    let mut metadata = cargo();
    metadata
        .args(["metadata", "--format-version=1"])
        .current_dir(root);
    let output = metadata.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let words = output
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .unwrap_or_default();
    let failure = Failure::new("cargo cannot build the program").hint("see cargo's messages above");

    failure.hints(lacks_svc(&words).then(|| SOURCES.to_owned()))
}

/// Whether cargo does not find the crate `svc`, judging by its output.
fn lacks_svc(words: &str) -> bool {
    words.contains("`svc`") || words.contains("`svc = ")
}

/// The hint for types of a crate that svc uses in another version than the program.
fn of_another_version(errors: &str) -> Option<String> {
    let is_twice = |name: &&str| errors.contains(&format!("different versions of crate `{name}`"));
    let name = REEXPORTED.into_iter().find(is_twice)?;
    Some(format!(
        "use the version that svc has: write `svc::{name}`, and remove {name} from Cargo.toml"
    ))
}

/// The program in a message.
fn program(message: Message) -> Option<(String, PathBuf)> {
    let target = message
        .target
        .filter(|target| target.kind.iter().any(|kind| kind == "bin"))?;
    (message.reason == "compiler-artifact").then_some((target.name, message.executable?))
}

fn choose(mut programs: Vec<(String, PathBuf)>) -> Result<Built> {
    match programs.len() {
        0 => {
            Err(Failure::new("the project has no program").hint("a program starts in src/main.rs"))
        }
        1 => Ok(Built {
            executable: programs.remove(0).1,
        }),
        _ => {
            let names: Vec<_> = programs.iter().map(|(name, _)| name.as_str()).collect();
            let failure = Failure::new(format!(
                "the project has several programs: {}",
                names.join(", ")
            ));
            Err(failure.hint(format!("choose one: --app :{}", names[0])))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_svc_is_recognized_in_the_output_of_cargo() {
        for words in [
            "error: failed to select a version for the requirement `svc = \"=1.0.0\"`",
            "error: no matching package named `svc` found",
            "failed to load source for dependency `svc`",
        ] {
            assert!(lacks_svc(words), "{words}");
        }
        assert!(!lacks_svc("error: no matching package named `svcx` found"));
    }

    #[test]
    fn a_program_is_chosen_where_there_are_several() {
        let two = vec![
            ("a".to_owned(), PathBuf::from("/a")),
            ("b".to_owned(), PathBuf::from("/b")),
        ];
        assert_eq!(
            choose(two[..1].to_vec()).unwrap().executable,
            PathBuf::from("/a")
        );
        assert!(
            choose(two)
                .unwrap_err()
                .message()
                .contains("several programs: a, b")
        );

        assert!(choose(Vec::new()).is_err());
    }
}
