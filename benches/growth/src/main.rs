//! Measures how the cost of a list grows with its rows and fields in three layouts, and the memory
//! of the largest response; and how many buffers PostgreSQL reads for pages by cursor. Prints
//! tables; exits with 1 if a cost grows faster than rows or fields, a response takes too much
//! memory, or a page reads more than twice the buffers of the first.
//!
//! The program starts itself once more as the server (`growth serve LAYOUT PORT`, or
//! `growth serve-pages LAYOUT PORT`).

mod app;
mod cursors;
mod linear;
mod measure;
mod wide;

use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use linear::{by_fields, by_rows};
use measure::Cost;
use testbed::{Database, Server, mebibytes};

const ROWS: [u32; 5] = [1, 10, 100, 1_000, wide::ROWS];
const FIELDS: [usize; 5] = [2, 5, 10, 20, wide::FIELDS];
/// The peak of memory of the largest answer, times its bytes.
const MEMORY: f64 = 3.0;

#[derive(Parser)]
#[command(about = "How cost grows with rows and fields")]
struct Arguments {
    #[command(subcommand)]
    serve: Option<Serve>,
    /// The number of rounds of all measurements; the least counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// For how long each combination is asked for in a round.
    #[arg(long, default_value_t = 100)]
    milliseconds: u64,
    /// Only this layout.
    #[arg(long)]
    layout: Option<Layout>,
    /// Only this section.
    #[arg(long)]
    section: Option<Section>,
}

/// A part of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// CPU time and memory by rows and fields.
    Growth,
    /// Buffers of pages by cursor.
    Cursors,
}

#[derive(Subcommand)]
enum Serve {
    /// Serves a layout; the measurement starts it.
    Serve { layout: Layout, port: u16 },
    /// Serves the pages of a layout.
    ServePages { layout: Layout, port: u16 },
}

/// The place of the rows' values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    Columns,
    Data,
    Tv,
}

impl Layout {
    /// The name as an argument.
    fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match arguments.serve {
        Some(Serve::Serve { layout, port }) => served(app::serve(layout, port)),
        Some(Serve::ServePages { layout, port }) => served(cursors::serve(layout, port)),
        None => measure_all(&arguments),
    };
    match ended {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("not as it should be:\n  {}", failed.join("\n  "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The result of a server that has ended.
fn served(ended: svc::Result<()>) -> Result<Vec<String>> {
    ended
        .map(|()| Vec::new())
        .map_err(|error| anyhow::anyhow!("{error:?}"))
}

/// Prints everything; returns the figures out of bounds.
fn measure_all(arguments: &Arguments) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    let layouts: Vec<Layout> = Layout::value_variants()
        .iter()
        .copied()
        .filter(|layout| arguments.layout.is_none_or(|only| only == *layout))
        .collect();

    if arguments.section != Some(Section::Cursors) {
        let database = Database::from_env()?;
        wide::seed(&database)?;
        println!("<!-- begin growth -->\n{}", database.hardware()?);
        for layout in &layouts {
            measure_layout(&database, *layout, arguments, &mut failed)?;
        }
        println!("<!-- end growth -->");
    }

    if arguments.section != Some(Section::Growth) {
        failed.extend(cursors::measure(&layouts)?);
    }

    Ok(failed)
}

fn measure_layout(
    database: &Database,
    layout: Layout,
    arguments: &Arguments,
    failed: &mut Vec<String>,
) -> Result<()> {
    let name = layout.name();
    let costs = costs(database, &name, arguments)?;
    println!("\n{name}: CPU ms per request, server + PostgreSQL");
    println!(
        "\n| rows | {} |",
        FIELDS.map(|count| format!("{count} fields")).join(" | ")
    );
    println!("|---:|{}", "---:|".repeat(FIELDS.len()));
    for (rows, costs) in ROWS.iter().zip(&costs) {
        let cells = costs
            .iter()
            .map(|cost| format!("{} + {}", figure(cost.server), figure(cost.postgres)));
        println!("| {rows} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
    for verdict in [by_rows(&costs), by_fields(&costs)] {
        println!("{verdict}\n");
        failed.extend(verdict.failed().map(|why| format!("{name}: {why}")));
    }
    memories(database, &name, failed)
}

/// A row of costs for each number of rows: the least of all rounds.
fn costs(database: &Database, name: &str, arguments: &Arguments) -> Result<Vec<Vec<Cost>>> {
    let (server, postgres) = (start(database, name)?, database.process()?);
    let mut client = server.client()?;
    let time = Duration::from_millis(arguments.milliseconds);
    let mut costs = vec![vec![Cost::MAX; FIELDS.len()]; ROWS.len()];
    for round in 0..arguments.rounds {
        for (rows, costs) in ROWS.iter().zip(&mut costs) {
            for (count, least) in FIELDS.iter().zip(costs) {
                let request = wide::request(*rows, *count);
                if round == 0 {
                    measure::warm_up(&mut client, &request)?;
                }
                let cost = measure::cost(&mut client, server.process(), postgres, &request, time)?;
                *least = least.least(cost);
            }
        }
        eprintln!(
            "{name}: round {} of {} is done",
            round + 1,
            arguments.rounds
        );
    }
    Ok(costs)
}

/// Each answer has a server of its own, as one keeps memory that it has had.
fn memories(database: &Database, name: &str, failed: &mut Vec<String>) -> Result<()> {
    println!(
        "| answer of {} rows | bytes | resident before, MiB | peak, MiB | after | peak − before, times the answer |",
        wide::ROWS
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for count in FIELDS {
        let memory = measure::memory(&start(database, name)?, count)?;
        println!(
            "| {count} fields | {} | {:.1} | {:.1} | {:.1} | {:.2} |",
            memory.bytes,
            mebibytes(memory.before),
            mebibytes(memory.peak),
            mebibytes(memory.after),
            memory.times()
        );
        if memory.times() >= MEMORY {
            failed.push(format!(
                "{name}: {count} fields take {:.2} times the answer",
                memory.times()
            ));
        }
    }
    Ok(())
}

fn start(database: &Database, layout: &str) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    // Huge pages would round what is resident to 2 MiB.
    command
        .args(["serve", layout])
        .env("DATABASE_URL", database.url(wide::DATABASE))
        .env("MIMALLOC_ALLOW_THP", "0");
    Server::start(command, &wide::request(1, 1))
}

/// Milliseconds with as many digits as say something.
fn figure(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1_000.0;
    match milliseconds {
        0.0..1.0 => format!("{milliseconds:.3}"),
        1.0..10.0 => format!("{milliseconds:.2}"),
        _ => format!("{milliseconds:.1}"),
    }
}
