//! Compares registered operations with the limits of the program, with its schema, and with their
//! earlier costs.

mod baseline;
mod code;
mod lint;

use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::failure::{Failure, Result};
use crate::program::{Description, Operation};
use crate::project::Project;
use crate::terminal;
use baseline::Baseline;
use code::Code;
use lint::Found;

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The file with the costs of registered operations to compare with; by default,
    /// svc.operations.json if it exists.
    #[arg(long, value_name = "FILE")]
    operations_baseline: Option<PathBuf>,
    /// Write the costs of registered operations to this file.
    #[arg(long)]
    update_operations: bool,
    /// The percentage by which the cost of an operation may exceed the baseline.
    #[arg(long, value_name = "PERCENT", default_value_t = 20)]
    max_growth: u64,
    /// The code of a finding about registered operations to ignore; can be repeated.
    #[arg(long, value_name = "CODE")]
    ignore: Vec<Code>,
}

/// Reports the findings about the registered operations.
///
/// # Errors
/// If one of the findings is a failure, or the baseline cannot be used.
pub(super) fn check(project: &Project, description: &Description, options: &Options) -> Result<()> {
    let operations = &description.operations;
    let baseline = options.baseline(project)?;
    let growth = operations
        .iter()
        .filter_map(|operation| Some((operation, baseline.as_ref()?)))
        .filter_map(|(operation, baseline)| {
            let found = baseline.growth(operation, options.max_growth)?;
            Some((operation, found))
        });

    let lints = operations.iter().flat_map(|operation| {
        let found = lint::check(operation, &description.limits);
        found.into_iter().map(move |found| (operation, found))
    });

    let found: Vec<_> = lints
        .chain(growth)
        .filter(|(operation, found)| !options.ignores(operation, found.code))
        .map(|(_, found)| found)
        .collect();

    // Even if there are failures: the file describes the operations as they are.
    if options.update_operations {
        let file = options.file();
        Baseline::of(operations).write(project, file)?;
        terminal::done(format_args!("wrote {}", file.display()));
    }

    let failures = report(project, found);
    if failures == 0 {
        note(operations, baseline.as_ref(), options);
        return Ok(());
    }

    let what = if failures == 1 {
        "1 problem".to_owned()
    } else {
        format!("{failures} problems")
    };

    Err(Failure::new(format!("{what} of registered operations"))
        .hint("change the operation, or accept a finding: --ignore CODE, or in the document: # svc-ignore CODE"))
}

/// Prints the findings, and returns the number of failures.
fn report(project: &Project, found: Vec<Found>) -> usize {
    let (failures, hints): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.is_failure);

    for finding in sorted(hints) {
        terminal::warning(finding.shown(project));
    }

    let failures = sorted(failures);
    for finding in &failures {
        terminal::failed(finding.shown(project));
    }

    failures.len()
}

/// The findings in the order of their places.
fn sorted(found: Vec<Found>) -> Vec<Finding> {
    let mut findings: Vec<_> = found.into_iter().map(|found| found.finding).collect();
    findings.sort_by(|a, b| a.order().cmp(&b.order()));
    findings
}

/// Reports the number of operations, if there are any, and the number that the baseline lacks.
fn note(operations: &[Operation], baseline: Option<&Baseline>, options: &Options) {
    if operations.is_empty() {
        return;
    }

    terminal::done(format_args!("registered operations: {}", operations.len()));

    let new = baseline.map_or(0, |baseline| baseline.count_new(operations));
    if new > 0 {
        let file = options.file().display();
        terminal::hint(format_args!(
            "operations that are not in {file}: {new}; add them: svc check --update-operations"
        ));
    }
}

impl Options {
    /// The file with the baseline.
    fn file(&self) -> &Path {
        let given = self.operations_baseline.as_deref();
        given.unwrap_or(Path::new(baseline::FILE))
    }

    /// The costs to compare with; none if they are about to be written.
    fn baseline(&self, project: &Project) -> Result<Option<Baseline>> {
        let is_given = self.operations_baseline.is_some();
        let exists = project.root().join(self.file()).is_file();
        if self.update_operations || !is_given && !exists {
            return Ok(None);
        }
        Baseline::read(project, self.file()).map(Some)
    }

    /// Whether a finding is silenced by an option or in the document.
    fn ignores(&self, operation: &Operation, code: Code) -> bool {
        let is_code = |ignored: &String| ignored == code.as_str();
        self.ignore.contains(&code) || operation.ignored.iter().any(is_code)
    }
}
