//! `svc doctor`: whether this machine, the project and its database are fit for work and for
//! production.

mod endpoint;
mod finding;
mod installed;
mod server;
mod settings;

use serde_json::json;

use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;
use finding::{Finding, State};

const EXAMPLES: &str = "\
Examples:
  svc doctor
  svc doctor --json
  svc doctor --url https://api.example.org/graphql";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The URL of a running service, to check whether it exposes its schema to anyone and accepts
    /// requests from pages of every origin.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut findings = installed::look();
    match Project::open() {
        Ok(project) => {
            findings.extend(settings::look(&project));
            findings.extend(database(&project));
        }
        Err(failure) => findings.push(Finding::warning(
            "project",
            failure.message(),
            "svc init NAME creates a project",
        )),
    }

    if let Some(url) = &arguments.url {
        findings.extend(database::block_on(endpoint::look(url))?);
    }

    print(&findings, arguments.json)?;
    let problems = findings
        .iter()
        .filter(|finding| finding.state == State::Problem)
        .count();

    match problems {
        0 => Ok(()),
        1 => Err(Failure::new("there is 1 problem")),
        _ => Err(Failure::new(format!("there are {problems} problems"))),
    }
}

fn database(project: &Project) -> Vec<Finding> {
    let target = project.database_url().and_then(|url| Target::parse(&url));
    let target = match target {
        Ok(target) => target,
        Err(failure) => return vec![Finding::of_failure("database", &failure)],
    };

    database::block_on(async {
        let client = match database::open(&target).await {
            Ok(client) => client,
            Err(failure) => return Ok(vec![Finding::of_failure("database", &failure)]),
        };
        server::look(project, &target, &client).await
    })
    .unwrap_or_else(|failure| vec![Finding::of_failure("database", &failure)])
}

fn print(findings: &[Finding], as_json: bool) -> Result<()> {
    if as_json {
        let count = |state| {
            findings
                .iter()
                .filter(|finding| finding.state == state)
                .count()
        };
        let report = json!({ "problems": count(State::Problem), "warnings": count(State::Warning), "findings": findings });
        return terminal::print(&format!("{report:#}\n"));
    }

    let mut text = String::new();
    for finding in findings {
        text += &format!(
            "{:8} {}: {}\n",
            finding.state.word(),
            finding.subject,
            finding.message
        );
        if let Some(fix) = &finding.fix {
            text += &format!("{:8} fix: {fix}\n", "");
        }
    }

    terminal::print(&text)
}
