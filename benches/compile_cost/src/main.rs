//! Measures the compile time of a user's crate: one schema with svc's macros, and the same schema
//! with async-graphql's derives.
//!
//! `compile_cost [RUNS] [FOLDER]`: by default, 3 runs in a temporary folder.
//! Dependencies are built first and not measured. Prints a table of medians.
//!
//! `compile_cost smallest [CHECKOUT [SET…]]` builds the smallest program from nothing with each set
//! of features, or with the given sets (`"as it comes" "without sqlx" auth`). With a checkout, it
//! builds the program of that checkout first.

mod build;
mod generate;
mod smallest;

use std::fmt::Write as _;
use std::path::PathBuf;

use build::{Cost, Package};

const RUNS: usize = 3;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("smallest") {
        let before = arguments
            .next()
            .map(|path| PathBuf::from(path).canonicalize())
            .transpose()?;
        let sets: Vec<String> = arguments.collect();
        return smallest::measure(
            &std::env::temp_dir().join("svc-compile-cost"),
            before.as_deref(),
            &sets,
        );
    }
    let runs = first
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RUNS)
        .max(1);
    let folder = arguments.next().map_or_else(
        || std::env::temp_dir().join("svc-compile-cost"),
        PathBuf::from,
    );
    generate::workspace(&folder)?;
    eprintln!("the crates are in {}", folder.display());
    let packages = generate::NAMES.map(|name| Package {
        folder: folder.clone(),
        name,
    });
    for package in &packages {
        package.dependencies()?;
    }
    let mut table = String::new();
    let mut row = |what: &str, unit: fn(f64) -> String, costs: [f64; 2]| {
        let [ours, theirs] = costs;
        let _ = writeln!(
            table,
            "| {what} | {} | {} | {:.2} |",
            unit(ours),
            unit(theirs),
            ours / theirs
        );
    };
    for (what, measure) in MEASURES {
        let costs = medians(&packages, measure, runs)?;
        row(what, seconds, costs.map(|cost| cost.wall));
        row(&format!("{what}, CPU"), seconds, costs.map(|cost| cost.cpu));
    }
    let [ours, theirs] = &packages;
    row(
        "lines of LLVM IR (debug)",
        count,
        [ours.ir_lines()?, theirs.ir_lines()?],
    );
    row(
        "object code of the crate (debug), KiB",
        kibibytes,
        [ours.object_bytes()?, theirs.object_bytes()?],
    );
    row(
        "lines of source",
        count,
        [ours.source_lines()?, theirs.source_lines()?],
    );
    println!("<!-- begin compile -->\n{}\n", report::hardware());
    println!(
        "| median of {runs} | svc | async-graphql | ratio |\n|---|---:|---:|---:|\n{table}<!-- end compile -->"
    );
    Ok(())
}

type Measure = fn(&Package, usize) -> std::io::Result<Cost>;

const MEASURES: [(&str, Measure); 5] = [
    ("`cargo check`", |package, _| {
        package
            .clean("dev")
            .and_then(|()| package.cargo(&["check"]))
    }),
    (
        "`cargo check` after a change of one line",
        |package, run| package.change(run).and_then(|()| package.cargo(&["check"])),
    ),
    ("`cargo build`", |package, _| {
        package
            .clean("dev")
            .and_then(|()| package.cargo(&["build"]))
    }),
    (
        "`cargo build` after a change of one line",
        |package, run| package.change(run).and_then(|()| package.cargo(&["build"])),
    ),
    ("`cargo build --release`", |package, _| {
        package
            .clean("release")
            .and_then(|()| package.cargo(&["build", "--release"]))
    }),
];

/// The packages take turns, so that both see the same load of the machine.
fn medians(packages: &[Package; 2], measure: Measure, runs: usize) -> std::io::Result<[Cost; 2]> {
    let mut costs = [Vec::new(), Vec::new()];
    for run in 0..runs {
        for (package, costs) in packages.iter().zip(&mut costs) {
            costs.push(measure(package, run)?);
        }
    }
    Ok(costs.map(|costs| Cost {
        wall: median(&costs, |cost| cost.wall),
        cpu: median(&costs, |cost| cost.cpu),
    }))
}

fn median(costs: &[Cost], of: fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn seconds(value: f64) -> String {
    format!("{value:.2} s")
}

fn count(value: f64) -> String {
    format!("{value:.0}")
}

fn kibibytes(value: f64) -> String {
    format!("{:.0}", value / 1024.0)
}
