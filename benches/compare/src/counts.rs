//! The instructions of two servers, under callgrind.

use std::fs;

use anyhow::{Result, ensure};
use instructions::{LAYOUTS, REQUESTS, count, start};
use testbed::Database;

use crate::arguments::Arguments;
use crate::change::percent;
use crate::places::Places;
use crate::revision::Program;
use crate::table::list;

/// The count of a workload.
#[derive(Debug)]
struct Count {
    /// The name of the workload and of its layout.
    name: String,
    /// Instructions of a request, or the reason why there are none.
    instructions: Result<f64, String>,
}

/// Prints the table, and returns the counts above the bound.
///
/// # Errors
/// A server does not start, callgrind fails, or there is no workload that both answer.
pub(crate) fn compare(
    arguments: &Arguments,
    places: &Places,
    database: &Database,
    programs: &[Program; 2],
) -> Result<Vec<String>> {
    let first = counts(arguments, places, database, &programs[0], "first")?;
    let second = counts(arguments, places, database, &programs[1], "second")?;

    let (mut rows, mut skipped, mut above) = (Vec::new(), Vec::new(), Vec::new());
    for (before, after) in first.into_iter().zip(second) {
        let name = before.name;
        match (before.instructions, after.instructions) {
            (Ok(before), Ok(after)) => {
                let change = percent(before, after);
                if arguments.bound.is_some_and(|bound| change > bound) {
                    above.push(format!("{name}: {after:.0} instructions ({change:+.1} %)"));
                }
                rows.push(format!(
                    "| {name} | {before:.0} | {after:.0} | {change:+.1} % |"
                ));
            }
            (Err(reason), _) => skipped.push(format!("{name}: {}: {reason}", programs[0].name)),
            (_, Err(reason)) => skipped.push(format!("{name}: {}: {reason}", programs[1].name)),
        }
    }
    ensure!(
        !rows.is_empty(),
        "there is no counted workload that both answer; Q1, Q3, Q4 and Q7 are counted\n{}",
        list("skipped", &skipped)
    );

    println!("{}\n", database.hardware()?);
    println!("Instructions of the server per request\n");
    println!("| | {} | {} | |", programs[0].name, programs[1].name);
    println!("|---|---:|---:|---:|\n{}", rows.join("\n"));
    print!("{}", list("Skipped", &skipped));
    Ok(above)
}

/// The counts of the workloads with these names, on each layout that has them.
fn counts(
    arguments: &Arguments,
    places: &Places,
    database: &Database,
    program: &Program,
    folder: &str,
) -> Result<Vec<Count>> {
    let folder = places.work.join(format!("instructions-{folder}"));
    fs::create_dir_all(&folder)?;
    eprintln!(
        "{}: the functions that cost most are listed in {}",
        program.name,
        folder.display()
    );

    let mut counted = Vec::new();
    for layout in &LAYOUTS {
        let wanted: Vec<_> = layout
            .workloads
            .iter()
            .filter(|workload| arguments.workloads.iter().any(|name| name == workload.name))
            .collect();
        if wanted.is_empty() {
            continue;
        }

        let mut profile = start(layout, &program.path, database, &folder)?;
        for workload in wanted {
            let instructions = match profile.send(&workload.request(layout)?) {
                Ok(()) => Ok(count(&mut profile, layout, workload, REQUESTS)?.median()),
                Err(error) => Err(format!("{error:#}")),
            };
            counted.push(Count {
                name: workload.title(layout),
                instructions,
            });
        }
    }
    Ok(counted)
}
