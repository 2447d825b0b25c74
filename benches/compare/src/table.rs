//! The table of CPU times.

use anyhow::Result;
use testbed::Database;

use crate::arguments::Arguments;
use crate::row::Row;

/// The fewest rounds whose interval has a confidence of 95 %; fewer reach 94 %.
const ROUNDS_OF_95_PERCENT: u32 = 6;

/// Prints the rows below the machine and the extent of the load.
///
/// # Errors
/// PostgreSQL does not return its version.
pub(crate) fn print(
    arguments: &Arguments,
    database: &Database,
    [first, second]: [&str; 2],
    rows: &[Row],
) -> Result<()> {
    let Arguments {
        rounds,
        seconds,
        concurrency,
        ..
    } = arguments;
    let confidence = match *rounds {
        ROUNDS_OF_95_PERCENT.. => 95,
        _ => 94,
    };
    println!(
        "{} {rounds} rounds of {seconds} s, {concurrency} connections.\n",
        database.hardware()?
    );
    println!(
        "CPU ms per request: **total** (server + PostgreSQL); changes with their {confidence} % intervals\n"
    );
    println!("| | {first} | {second} | server | total |\n|---|---:|---:|---:|---:|");
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

/// Lines below a title; nothing if there are none.
pub(crate) fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{title}:\n  {}\n", lines.join("\n  "))
}
