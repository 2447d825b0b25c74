//! The programs of the templates, as a new user has them: made, checked, tested, changed and served.
//!
//! They share one target folder, so that svc is built once; each has a name of its own, which its program has too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dev::Dev;
use crate::support::{Place, Said, command, said};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A project of a template, which depends on the crate of this repository.
pub(crate) struct Project {
    place: Place,
    name: &'static str,
}

impl Project {
    fn new(template: &str, name: &'static str) -> Self {
        let place = Place::new();
        let url = format!("postgresql://svc:svc@localhost:{}/{name}", crate::database::free_port());
        let svc = format!("{WORKSPACE}/svc");
        place
            .svc(&["init", name, "--template", template, "--no-git", "--svc-path", &svc, "--database-url", &url])
            .good();
        // The same versions as everywhere in the repository, which are there already.
        std::fs::copy(format!("{WORKSPACE}/Cargo.lock"), place.path(name).join("Cargo.lock")).expect("the lock file");
        Self { place, name }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path(self.name)
    }

    fn with_target(&self, command: &mut Command) -> Said {
        said(command.env("CARGO_TARGET_DIR", target()).output().expect("the program"))
    }

    fn svc(&self, arguments: &[&str]) -> Said {
        self.with_target(command(&self.folder()).args(arguments))
    }

    fn cargo(&self, arguments: &[&str]) -> Said {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(self.folder()).args(arguments);
        self.with_target(cargo.env_remove("SVC_DATABASE_URL").env_remove("DATABASE_URL"))
    }

    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let path = Path::new(self.name).join(path);
        let path = path.to_str().expect("a path");
        let text = self.place.read(path);
        assert!(text.contains(from), "{text}");
        self.place.write(path, &text.replace(from, to));
    }
}

pub(crate) fn target() -> PathBuf {
    Path::new(WORKSPACE).join("target/templates")
}

/// The words of a command that succeeds without warnings of the compiler.
#[track_caller]
fn clean(said: Said) -> String {
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(!said.err.contains("warning: unused") && !said.err.contains("generated 1 warning"), "{}", said.err);
    said.err + &said.out
}

fn checked_and_tested(name: &'static str, types: &str) -> Project {
    let project = Project::new(name, name);
    let checked = clean(project.svc(&["check"]));
    assert!(checked.contains(types), "{checked}");
    assert!(checked.contains("so the types were not compared with views"), "{checked}");
    clean(project.cargo(&["test", "--quiet"]));
    let formatted = project.cargo(&["fmt", "--check"]);
    assert_eq!(formatted.code, Some(0), "{}", formatted.out);
    project
}

#[test]
fn basic_is_made_checked_changed_and_served() {
    let project = checked_and_tested("basic", "types: 1\ninput types: 0\n");
    project.svc(&["db", "start"]).good();
    let compared = project.svc(&["check"]);
    let written = project.svc(&["generate", "crud", "User"]);
    let migration = project.svc(&["generate", "migration", "product"]);
    let applied = project.svc(&["migrate", "up"]);
    let again = project.svc(&["db", "psql", "-Xqv", "ON_ERROR_STOP=1", "-f", migration.out.trim()]);
    let with_mutations = project.svc(&["check"]);
    project.edit("src/types/mod.rs", "pub name: String", "pub name: i32");
    project.edit("src/types/mod.rs", "    pub email", "    pub nick: String,\n    /// Mail.\n    pub email");
    let wrong = project.svc(&["check"]);
    let stopped = project.svc(&["db", "stop"]);

    assert!(clean(compared).contains("the types agree with the database"));
    assert_eq!(written.good(), "src/mutations/user_mutations.rs\ndb/schema/002_user_functions.sql\n");
    assert!(applied.err.contains("2 files are applied"), "{}", applied.err);
    again.good();
    let with_mutations = clean(with_mutations);
    assert!(with_mutations.contains("input types: 2\n"), "{with_mutations}");
    assert!(with_mutations.contains("the types agree with the database"), "{with_mutations}");
    assert_eq!(wrong.code, Some(1), "{}", wrong.err);
    assert!(wrong.err.contains("User.nick (app::types::User::nick): v_user has no column `nick`"), "{}", wrong.err);
    stopped.good();
}

#[test]
fn blog_is_made_and_checked() {
    let project = checked_and_tested("blog", "types: 3\ninput types: 2\n");
    let sdl = project.svc(&["generate", "schema", "-o", "-"]).good();
    assert!(sdl.contains("type Post") && sdl.contains("createPost("), "{sdl}");
    project.svc(&["generate", "schema"]).good();
    assert_eq!(std::fs::read_to_string(project.folder().join("schema.graphql")).expect("the schema"), sdl);
    project.svc(&["db", "start"]).good();
    let (checked, stopped) = (project.svc(&["check"]), project.svc(&["db", "stop"]));
    assert!(clean(checked).contains("the types agree with the database"));
    stopped.good();
}

#[test]
fn ecommerce_is_made_and_checked() {
    let project = checked_and_tested("ecommerce", "types: 5\ninput types: 2\n");
    project.svc(&["db", "start"]).good();
    let (checked, stopped) = (project.svc(&["check"]), project.svc(&["db", "stop"]));
    assert!(clean(checked).contains("the types agree with the database"));
    stopped.good();
}

#[test]
fn dev_serves_without_a_gap() {
    let project = Project::new("basic", "served");
    let dev = Dev::start(&project);
    let users = dev.ask("{ users { name } }");
    assert!(users.contains("Ada Lovelace"), "{users}");
    let computed = "#[svc_type]\nimpl User {\n    /// Short.\n    fn nick(&self) -> String {\n        \
        self.name.clone()\n    }\n}\n";
    project.edit("src/types/mod.rs", "/// A person.", &format!("{computed}\n/// A person."));
    // Every answer in between is one of the old program or of the new one.
    dev.while_waiting_for("the new program serves", || {
        let answer = dev.ask("{ users { nick } }");
        assert!(answer.starts_with("HTTP/1.1 ") && answer.contains("nick"), "{answer}");
    });
    assert!(dev.ask("{ users { nick } }").contains("Ada Lovelace"));
    // What does not compile leaves the old program serving.
    project.edit("src/types/mod.rs", "-> String", "-> Strin");
    dev.wait_for("the program does not compile");
    assert!(dev.ask("{ users { nick } }").contains("Ada Lovelace"));
    // SQL needs no build.
    project.edit("db/schema/001_users.sql", "Grace Hopper', 'grace@", "Linus', 'linus@");
    dev.wait_for("1 file is applied");
    assert!(dev.ask("{ users { nick } }").contains("Linus"));
    dev.end();
}

#[test]
fn a_killed_dev_leaves_nothing_behind() {
    let project = Project::new("basic", "killed");
    let dev = Dev::start(&project);
    let address = dev.address();
    dev.kill();
    while std::net::TcpStream::connect(&address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
