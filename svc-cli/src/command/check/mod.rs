//! `svc check`.

mod catalog;
mod finding;
mod functions;
mod nulls;
mod operations;
mod snapshot;
mod start;
mod statements;
mod tables;
mod unlisted;
mod views;

use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::program::{self, Choice, Description};
use crate::project::Project;
use crate::terminal;
use snapshot::Snapshot;

/// The folders of a project. Git does not track empty folders, so a project without tests has no
/// `tests` folder.
const FOLDERS: [&str; 3] = ["src", "tests", "db/migrations"];
const NEEDED: [&str; 2] = ["src", "db/migrations"];

const EXAMPLES: &str = "\
Examples:
  svc check
  svc check --update             write svc.schema.json; commit this file
  svc check --offline            compare with svc.schema.json, without a database
  svc check --update-operations  write svc.operations.json; commit this file
  svc check --app shop:server";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Compare with svc.schema.json instead of a database.
    #[arg(long, conflicts_with = "update")]
    offline: bool,
    /// Write a description of the database to svc.schema.json.
    #[arg(long)]
    update: bool,
    #[command(flatten)]
    operations: operations::Options,
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let project = Project::open()?;
    let (present, absent): (Vec<_>, Vec<_>) = FOLDERS
        .into_iter()
        .partition(|folder| project.root().join(folder).is_dir());
    let missing: Vec<_> = absent
        .into_iter()
        .filter(|folder| NEEDED.contains(folder))
        .collect();
    if !missing.is_empty() {
        let failure = Failure::new(format!("the project has no folder {}", missing.join(", ")));
        return Err(failure.hint(format!("create it: mkdir -p {}", missing.join(" "))));
    }

    terminal::done(format_args!("folders: {}", present.join(", ")));

    if !project.root().join("src/main.rs").is_file() {
        return Err(Failure::new("src/main.rs does not exist")
            .hint("it contains the program's main function"));
    }

    terminal::done("src/main.rs");
    let program = program::build(&project, &arguments.choice)?;
    terminal::done("the program compiles");
    let url = if arguments.offline {
        None
    } else {
        reachable(&project)
    };

    let description = program::describe(&project, &program, url.as_deref())?;
    let counts = &description.counts;
    terminal::done("the schema builds");
    terminal::print(&format!(
        "types: {}\ninput types: {}\nschema types: {}\n",
        counts.types, counts.inputs, counts.schema
    ))?;
    if arguments.choice.is_usual() {
        unlisted::warn(&project, &description);
    }

    let operations = operations::check(&project, &description, &arguments.operations);
    match (compare(&project, &description, arguments), operations) {
        (Err(types), Err(operations)) => {
            let _ = operations.report();
            Err(types)
        }
        (types, operations) => types.and(operations),
    }
}

/// The URL of the database, if it responds.
fn reachable(project: &Project) -> Option<String> {
    let url = project.database_url().ok()?;
    let target = Target::parse(&url).ok()?;
    database::block_on(async { database::open(&target).await.map(drop) })
        .is_ok()
        .then_some(url)
}

/// The database itself, or the snapshot in the file; none if neither exists.
fn read_database(
    project: &Project,
    description: &Description,
    arguments: &Arguments,
) -> Result<Option<Snapshot>> {
    if arguments.offline {
        return Snapshot::read(project).map(Some);
    }

    let without = |why: &str| {
        terminal::warning(format_args!(
            "{why}, so the types were not compared with views"
        ));
        if project.root().join(snapshot::FILE).is_file() {
            terminal::hint(format_args!(
                "compare them with {}: svc check --offline",
                snapshot::FILE
            ));
        }
    };

    let url = match project.database_url() {
        Err(_) if !arguments.update => {
            without("no database URL is set");
            return Ok(None);
        }
        url => url?,
    };

    let target = Target::parse(&url)?;

    database::block_on(async {
        match database::open(&target).await {
            Ok(client) => catalog::read(&client, description).await.map(Some),
            Err(failure) if arguments.update => Err(failure),
            Err(failure) => {
                without(failure.message());
                terminal::hint("start it: svc db start");
                Ok(None)
            }
        }
    })
}

/// Compares the types with the database, if there is one.
fn compare(project: &Project, description: &Description, arguments: &Arguments) -> Result<()> {
    let Some(database) = read_database(project, description, arguments)? else {
        return Ok(());
    };

    // Before the comparison: the file describes the database, whether or not the types match
    // it.
    if arguments.update {
        database.write(project)?;
        terminal::done(format_args!("wrote {}", snapshot::FILE));
    }

    let mut found = views::compare(description, &database);
    found.extend(functions::compare(description, &database));
    found.extend(statements::compare(description, &database));
    found.extend(tables::compare(description, &database));
    let hints = start::add(description, &mut found);
    if let Some(why) = &description.start_error {
        terminal::warning(format_args!(
            "the startup of the program was not checked: {why}"
        ));
    }

    found.sort_by(|a, b| a.order().cmp(&b.order()));
    for hint in &hints {
        terminal::warning(hint.shown(project));
    }

    if found.is_empty() {
        let with = if arguments.offline {
            snapshot::FILE
        } else {
            "the database"
        };
        terminal::done(format_args!("the types match {with}"));
        return Ok(());
    }

    // Before the first migration, each type would be reported for its missing view.
    if !arguments.offline && database.is_empty() {
        terminal::warning(
            "the database has no objects of the project yet, so the types were not compared with views",
        );
        terminal::hint("create its tables and views: svc migrate up");
        return Ok(());
    }

    for finding in &found {
        terminal::failed(finding.shown(project));
    }

    let what = if found.len() == 1 {
        "1 mismatch".to_owned()
    } else {
        format!("{} mismatches", found.len())
    };

    let failure = Failure::new(format!("{what} between the types and the database"));

    Err(if arguments.offline {
        failure.hint("if the database has changed, update the description: svc check --update")
    } else {
        failure.hint("change the type, or the view in db/schema, and apply it: svc migrate up")
    })
}
