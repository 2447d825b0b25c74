//! `svc check`.

mod catalogue;
mod views;

use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::program::{self, Choice, Description};
use crate::project::Project;
use crate::terminal;

/// The folders of a project.
const FOLDERS: [&str; 3] = ["src", "tests", "db/migrations"];

const EXAMPLES: &str = "\
Examples:
  svc check
  svc check --app shop:server";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let project = Project::open()?;
    let missing: Vec<_> = FOLDERS.into_iter().filter(|folder| !project.root().join(folder).is_dir()).collect();
    if !missing.is_empty() {
        let failure = Failure::new(format!("the project has no folder {}", missing.join(", ")));
        return Err(failure.hint(format!("make it: mkdir -p {}", missing.join(" "))));
    }
    terminal::done(format_args!("folders: {}", FOLDERS.join(", ")));
    if !project.root().join("src/main.rs").is_file() {
        return Err(Failure::new("src/main.rs does not exist").hint("it is where the program begins"));
    }
    terminal::done("src/main.rs");
    let program = program::build(&project, &arguments.choice)?;
    terminal::done("the program compiles");
    let description = program::describe(&project, &program)?;
    let counts = &description.counts;
    terminal::done("the schema builds");
    terminal::print(&format!(
        "types: {}\ninput types: {}\nschema types: {}\n",
        counts.types, counts.inputs, counts.schema
    ))?;
    compare(&project, &description)
}

/// Compares the types with the database, where there is one.
fn compare(project: &Project, description: &Description) -> Result<()> {
    let target = match project.database_url() {
        Ok(url) => Target::parse(&url)?,
        Err(_) => {
            terminal::warning("no database is set, so the types were not compared with views");
            return Ok(());
        }
    };
    let found = database::block_on(async {
        match database::open(&target).await {
            Ok(client) => views::compare(&client, description).await.map(Some),
            Err(failure) => {
                terminal::warning(format_args!("{}, so the types were not compared with views", failure.message()));
                terminal::hint("start it: svc db start");
                Ok(None)
            }
        }
    })?;
    match found.as_deref() {
        None => Ok(()),
        Some([]) => {
            terminal::done("the types agree with the database");
            Ok(())
        }
        Some(found) => {
            for line in found {
                terminal::failed(line);
            }
            let what =
                if found.len() == 1 { "1 place where".to_owned() } else { format!("{} places where", found.len()) };
            Err(Failure::new(format!("{what} the types and the database disagree"))
                .hint("change the type, or the view in db/schema, and apply it: svc migrate up"))
        }
    }
}
