//! The programs of the templates, as a new user has them: made, checked, tested, changed and served.
//!
//! They share the target folder and the profiles of this repository, so that little is built for
//! them. Their tests also share the features of third-party crates. Each has its own name, which is
//! the name of its program too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::dev::{Dev, KeepAlive};
use crate::support::{Place, Said, cargo, command, said};
use crate::unified;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A project of a template, which depends on the crate of this repository.
pub(crate) struct Project {
    place: Place,
    name: &'static str,
}

impl Project {
    /// A project with a database of its own, which does not run yet.
    pub(crate) fn new(template: &str, name: &'static str) -> Self {
        let url = format!(
            "postgresql://svc:svc@localhost:{}/{name}",
            crate::database::free_port()
        );
        Self::with_database(template, name, &url)
    }

    /// A project with the database at a URL.
    pub(crate) fn with_database(template: &str, name: &'static str, url: &str) -> Self {
        let place = Place::new();
        place.write(".cargo/config.toml", &profiles());
        let svc = format!("{WORKSPACE}/svc");
        place
            .svc(&[
                "init",
                name,
                "--template",
                template,
                "--no-git",
                "--svc-path",
                &svc,
                "--database-url",
                url,
            ])
            .good();
        // The same versions as everywhere in the repository, which are there already.
        std::fs::copy(
            format!("{WORKSPACE}/Cargo.lock"),
            place.path(name).join("Cargo.lock"),
        )
        .expect("the lock file");
        Self { place, name }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path(self.name)
    }

    fn with_target(&self, command: &mut Command) -> Said {
        said(
            command
                .env("CARGO_TARGET_DIR", target())
                .output()
                .expect("the program"),
        )
    }

    pub(crate) fn svc(&self, arguments: &[&str]) -> Said {
        self.with_target(command(&self.folder()).args(arguments))
    }

    pub(crate) fn cargo(&self, arguments: &[&str]) -> Said {
        self.with_target(cargo(&self.folder()).args(arguments))
    }

    /// Adds the package of [`unified::manifest`] to a table of dependencies in `Cargo.toml`. Call it
    /// before cargo runs in the project, because cargo removes unused crates from the lock file.
    ///
    /// In `dev-dependencies` it affects only the tests of the project. Its program is then built
    /// with exactly the features that it has on a user's machine.
    pub(crate) fn unify(&self, table: &str) {
        self.place.write("unified/Cargo.toml", unified::manifest());
        self.place.write("unified/src/lib.rs", "");
        let heading = format!("[{table}]\n");
        let dependency = format!("{heading}unified.path = \"../unified\"\n");
        self.edit("Cargo.toml", &heading, &dependency);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        self.place.read(&format!("{}/{path}", self.name))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.place.write(&format!("{}/{path}", self.name), text);
    }

    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{text}");
        self.write(path, &text.replace(from, to));
    }
}

/// The target folder in which this test was built: crates that are built there alike are not built again.
pub(crate) fn target() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_svc")).ancestors().nth(2);
    folder.expect("a folder").to_owned()
}

/// The profiles of this repository, as cargo takes them from a folder above a project.
fn profiles() -> String {
    let manifest =
        std::fs::read_to_string(format!("{WORKSPACE}/Cargo.toml")).expect("the manifest");
    let from = manifest.find("[profile.dev]").expect("a profile");
    let end = manifest.find("[profile.release]").expect("a profile");
    manifest[from..end].to_owned()
}

/// The words of a command that succeeds without warnings of the compiler.
#[track_caller]
fn clean(said: Said) -> String {
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(
        !said.err.contains("warning: unused") && !said.err.contains("generated 1 warning"),
        "{}",
        said.err
    );
    said.err + &said.out
}

fn checked_and_tested(template: &str, name: &'static str, types: &str) -> Project {
    let project = Project::new(template, name);
    project.unify("dev-dependencies");
    let checked = clean(project.svc(&["check"]));
    assert!(checked.contains(types), "{checked}");
    assert!(
        checked.contains("so the types were not compared with views"),
        "{checked}"
    );
    clean(project.cargo(&["test", "--quiet"]));
    let formatted = project.cargo(&["fmt", "--check"]);
    assert_eq!(formatted.code, Some(0), "{}", formatted.out);
    project
}

#[test]
fn basic_is_made_checked_changed_and_served() {
    let project = checked_and_tested("basic", "new_basic", "types: 1\ninput types: 0\n");
    project.svc(&["db", "start"]).good();
    // A service that runs meanwhile has the port, whoever started it.
    let service = std::net::TcpListener::bind(("127.0.0.1", 8000));
    let compared = project.svc(&["check"]);
    drop(service);
    let written = project.svc(&["generate", "crud", "User"]);
    let migration = project.svc(&["generate", "migration", "product"]);
    let applied = project.svc(&["migrate", "up"]);
    let again = project.svc(&[
        "db",
        "psql",
        "-Xqv",
        "ON_ERROR_STOP=1",
        "-f",
        migration.out.trim(),
    ]);
    let with_mutations = project.svc(&["check"]);
    project.edit("src/types/mod.rs", "pub name: String", "pub name: i32");
    project.edit(
        "src/types/mod.rs",
        "    pub email",
        "    pub nick: String,\n    /// Mail.\n    pub email",
    );
    let wrong = project.svc(&["check"]);
    let stopped = project.svc(&["db", "stop"]);

    assert!(clean(compared).contains("the types match the database"));
    assert_eq!(written.good(), "src/mutations/user_mutations.rs\n");
    assert!(
        migration.out.ends_with("_create_tb_product.sql\n"),
        "{}",
        migration.out
    );
    assert!(applied.err.contains("applied 1 file"), "{}", applied.err);
    let generated = project.read("src/mutations/user_mutations.rs");
    assert_eq!(
        generated.matches("#[svc::requires_auth]").count(),
        3,
        "{generated}"
    );
    again.good();
    let with_mutations = clean(with_mutations);
    assert!(
        with_mutations.contains("input types: 2\n"),
        "{with_mutations}"
    );
    assert!(
        with_mutations.contains("the types match the database"),
        "{with_mutations}"
    );
    assert_eq!(wrong.code, Some(1), "{}", wrong.err);
    assert!(
        wrong
            .err
            .contains("src/types/mod.rs:14: User.nick: v_user has no column `nick`"),
        "{}",
        wrong.err
    );
    stopped.good();
}

#[test]
fn blog_is_made_and_checked() {
    let project = checked_and_tested("blog", "new_blog", "types: 3\ninput types: 2\n");
    let sdl = project.svc(&["generate", "schema", "-o", "-"]).good();
    assert!(
        sdl.contains("type Post") && sdl.contains("createPost("),
        "{sdl}"
    );
    project.svc(&["generate", "schema"]).good();
    assert_eq!(
        std::fs::read_to_string(project.folder().join("schema.graphql")).expect("the schema"),
        sdl
    );
    first_hour(&project, "User", "src/types/user.rs");
}

#[test]
fn ecommerce_is_made_and_checked() {
    let project = checked_and_tested("ecommerce", "new_shop", "types: 5\ninput types: 2\n");
    first_hour(&project, "Customer", "src/types/customer.rs");
}

/// The first hour of a new user: serve, query, check, change a type, and write through a new mutation.
fn first_hour(project: &Project, person: &str, file: &str) {
    let list = format!("{}s", person.to_lowercase());
    let dev = Dev::start(project);
    dev.ask_until(&format!("{{ {list} {{ name }} }}"), "Ada Lovelace");
    let words = project.svc(&["db", "stop"]).err;
    assert!(
        words.contains("the database belongs to a running `svc dev`"),
        "{words}"
    );
    assert!(clean(project.svc(&["check"])).contains("the types match the database"));
    let method = format!(
        "\n#[svc_type]\nimpl {person} {{\n    /// Loud.\n    fn loud(&self) -> String {{\n        \
         self.name.to_uppercase()\n    }}\n}}\n"
    );
    project.write(file, &(project.read(file) + &method));
    dev.wait_for("the new program is serving");
    let loud = dev.ask(&format!("{{ {list} {{ loud }} }}"));
    assert!(loud.contains("ADA LOVELACE"), "{loud}");
    writes_through_a_new_mutation(project, &dev, person);
    dev.end();
}

fn writes_through_a_new_mutation(project: &Project, dev: &Dev, person: &str) {
    project.svc(&["generate", "crud", person]).good();
    dev.wait_for("the new program is serving");
    let field = person.to_lowercase();
    let create = format!(
        "mutation {{ create{person}(input: {{ name: \"Eve\", email: \"eve@example.org\" }}) {{ \
         ... on Create{person}Success {{ {field} {{ id name email }} }} \
         ... on Create{person}Error {{ status message }} }} }}"
    );
    // Nobody has logged in, and the mutations are guarded.
    let denied = dev.ask(&create);
    assert!(denied.contains(r#""code":"UNAUTHENTICATED""#), "{denied}");
    project.edit(
        &format!("src/mutations/{field}_mutations.rs"),
        "#[svc::requires_auth]\n",
        "",
    );
    dev.wait_for("the new program is serving");
    project.svc(&["generate", "migration", "parcel"]).good();
    project.svc(&["migrate", "up"]).good();
    let created = dev.ask(&create);
    assert!(
        created.contains(r#""name":"Eve","email":"eve@example.org"}"#),
        "{created}"
    );
    let taken = dev.ask(&create);
    assert!(
        taken.contains(r#""status":"conflict:email_taken""#),
        "{taken}"
    );
    assert!(
        taken.contains(&format!("a {field} with this email already exists")),
        "{taken}"
    );
    let (_, id) = created.split_once(r#""id":""#).expect("an id");
    let id = &id[..36];
    let cleared = dev.ask(&format!(
        "mutation {{ update{person}(id: \"{id}\", input: {{ name: null }}) {{ ... on Update{person}Error {{ status }} }} }}"
    ));
    assert!(cleared.contains(r#""code":"BAD_USER_INPUT""#), "{cleared}");
    let changed = dev.ask(&format!(
        "mutation {{ update{person}(id: \"{id}\", input: {{ name: \"Eva\" }}) {{ \
         ... on Update{person}Success {{ {field} {{ name email }} }} }} }}"
    ));
    assert!(
        changed.contains(r#"{"name":"Eva","email":"eve@example.org"}"#),
        "{changed}"
    );
    let deleted = dev.ask(&format!(
        "mutation {{ delete{person}(id: \"{id}\") {{ ... on Delete{person}Success {{ {field} {{ name }} }} }} }}"
    ));
    assert!(deleted.contains(r#"{"name":"Eva"}"#), "{deleted}");
    let status = project.svc(&["migrate", "status"]).good();
    assert!(
        status.contains("_create_tb_parcel") && !status.contains("pending"),
        "{status}"
    );
    assert!(clean(project.svc(&["check"])).contains("the types match the database"));
}

/// Prints how long something took, and fails where that is more than the factor times the limit in seconds: other tests
/// run beside this one. `cargo xtask bench command-line` measures against the limit itself.
#[track_caller]
#[expect(clippy::print_stderr, reason = "a figure")]
fn within(what: &str, begun: Instant, limit: u64, factor: u64) {
    let took = begun.elapsed();
    eprintln!("{what}: {took:?}, at most {limit} s on a machine of its own");
    assert!(
        took < Duration::from_secs(factor * limit),
        "{what}: {took:?}"
    );
}

#[test]
fn dev_serves_without_a_gap() {
    let project = Project::new("basic", "new_served");
    let mut dev = Dev::spawn(&project, 0, &[]);
    dev.wait_for("Finished ");
    let built = Instant::now();
    dev.await_address();
    while !dev.ask("{ users { name } }").contains("Ada Lovelace") {}
    within(
        "the first answer with the project's own database",
        built,
        10,
        30,
    );
    let computed = "#[svc_type]\nimpl User {\n    /// Short.\n    fn nick(&self) -> String {\n        \
        self.name.clone()\n    }\n}\n";
    project.edit(
        "src/types/mod.rs",
        "/// A person.",
        &format!("{computed}\n/// A person."),
    );
    let changed = Instant::now();
    // Every answer in between is one of the old program or of the new one, also on connections that
    // are kept. While one of the clients waits for an answer, the other is idle.
    let mut clients = [KeepAlive::new(&dev), KeepAlive::new(&dev)];
    dev.while_waiting_for("the new program is serving", || {
        let query = "{ users { nick } }";
        let answers = [dev.ask(query)]
            .into_iter()
            .chain(clients.iter_mut().map(|client| client.ask(query)));
        for answer in answers {
            assert!(
                answer.starts_with("HTTP/1.1 ") && answer.contains("nick"),
                "{answer}"
            );
        }
    });
    assert!(dev.ask("{ users { nick } }").contains("Ada Lovelace"));
    within("a change until it is served", changed, 10, 30);
    // What does not compile leaves the old program serving.
    project.edit("src/types/mod.rs", "-> String", "-> Strin");
    dev.wait_for("the program does not compile");
    assert!(dev.ask("{ users { nick } }").contains("Ada Lovelace"));
    // SQL needs no build.
    let column = "SELECT id, replace(name, 'Grace Hopper', 'Linus') AS name,";
    project.edit("db/schema/001_users.sql", "SELECT id, name,", column);
    dev.wait_for("applied 1 file");
    // The running program looks for changed views each second.
    dev.ask_until("{ users { nick } }", "Linus");
    project.edit("src/types/mod.rs", "-> Strin ", "-> String ");
    dev.wait_for("the new program is serving");
    writes_through_a_new_mutation(&project, &dev, "User");
    dev.end();
}

#[test]
fn a_killed_dev_leaves_nothing_behind() {
    let project = Project::new("basic", "new_killed");
    let dev = Dev::start(&project);
    let address = dev.address();
    let mut second = Dev::spawn(&project, 0, &[]);
    second.wait_for("warning: another svc dev is running in this folder");
    second.await_address();
    second.ask_until("{ users { name } }", "Ada Lovelace");
    second.end();
    dev.kill();
    while std::net::TcpStream::connect(&address).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Its notes are those of a run that is gone, which the next one removes.
    let notes = || {
        std::fs::read_dir(project.folder().join(".svc/dev"))
            .expect("the notes")
            .count()
    };
    assert_eq!(notes(), 1);
    let dev = Dev::start(&project);
    assert_eq!(notes(), 1);
    dev.end();
    assert_eq!(notes(), 0);
}

#[test]
fn dev_serves_where_there_is_no_postgresql() {
    let project = Project::new("basic", "new_alone");
    let dev = Dev::spawn(
        &project,
        crate::database::free_port(),
        &[("SVC_PG_BIN", "/nowhere")],
    );
    dev.wait_for("the service runs without a database, so queries find no rows");
    dev.wait_for("Finished ");
    let built = Instant::now();
    dev.wait_for("  GraphQL   http://");
    let answer = dev.ask("{ users { name } }");
    within("the first answer without a database", built, 5, 30);
    assert!(answer.contains(r#"{"data":{"users":[]}"#), "{answer}");
    // Operations are read anew without a build.
    project.write("operations/names.graphql", "query Names { users { name } }");
    dev.wait_for("operations/names.graphql has changed");
    dev.wait_for("the new program is serving");
    assert!(dev.ask("{ users { name } }").contains(r#""users":[]"#));
    dev.end();
}

#[test]
fn clients_get_the_message_of_the_compiler() {
    let project = Project::new("basic", "new_broken");
    project.edit("src/types/mod.rs", "pub name: String", "pub name: Strin");
    let dev = Dev::spawn(
        &project,
        crate::database::free_port(),
        &[("SVC_PG_BIN", "/nowhere")],
    );
    dev.wait_for("the program does not compile");
    let page = dev.browse();
    assert!(
        page.starts_with("HTTP/1.1 503 ") && page.contains("Content-Type: text/html"),
        "{page}"
    );
    assert!(
        page.contains("cannot find type `Strin`") && page.contains("src/types/mod.rs:12"),
        "{page}"
    );
    let error = dev.ask("{ users { name } }");
    assert!(
        error.contains(r#""code":"SERVICE_UNAVAILABLE""#) && error.contains("`Strin`"),
        "{error}"
    );
    project.edit("src/types/mod.rs", "pub name: Strin", "pub name: String");
    dev.wait_for("  GraphQL   http://");
    assert!(dev.ask("{ users { name } }").contains(r#""users":[]"#));
    dev.end();
}
