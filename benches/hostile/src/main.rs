//! Times documents that could hold a server. Each must be answered or refused in time, every time, and the server
//! must answer after it. Prints a table; ends with 1 when a document takes too long. Needs no database.

mod app;
mod client;
mod documents;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use client::{Reply, post};
use documents::Attack;

const TRIES: usize = 20;
const LIMIT: Duration = Duration::from_millis(100);
/// A server that is held for longer is given up.
const GIVE_UP: Duration = Duration::from_secs(20);

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let address = match app::serve().await {
        Ok(address) => address,
        Err(error) => {
            eprintln!("the server does not start: {error:?}");
            return ExitCode::FAILURE;
        }
    };
    println!("<!-- begin hostile -->");
    println!("{}\n", report::hardware());
    println!("| document | bytes | answer | median ms | slowest of {TRIES}, ms |");
    println!("|---|---:|---|---:|---:|");
    let mut failed = Vec::new();
    for attack in documents::all() {
        match measure(address, &attack).await {
            Ok((reply, mut times)) => {
                times.sort();
                let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
                println!(
                    "| {} | {} | {reply} | {:.2} | {:.2} |",
                    attack.name,
                    (attack.body)(0).len(),
                    milliseconds(median),
                    milliseconds(slowest)
                );
                if slowest > LIMIT {
                    failed.push(format!("{} took {:.0} ms", attack.name, milliseconds(slowest)));
                }
            }
            Err(why) => {
                println!("| {} | {} | {why} | – | – |", attack.name, (attack.body)(0).len());
                failed.push(format!("{}: {why}", attack.name));
            }
        }
    }
    println!("<!-- end hostile -->");
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("over {} ms, or no answer:\n  {}", LIMIT.as_millis(), failed.join("\n  "));
    ExitCode::FAILURE
}

/// The times of all tries, and the last reply.
async fn measure(address: SocketAddr, attack: &Attack) -> Result<(Reply, Vec<Duration>), String> {
    let mut times = Vec::new();
    let mut last = None;
    for number in 0..TRIES {
        // Each try is a document of its own, so that no cache answers it.
        let body = (attack.body)(number);
        let attempt = tokio::time::timeout(GIVE_UP, post(address, &body, attack.framing));
        let (reply, time) = attempt.await.map_err(|_| "no answer".to_owned())?.map_err(|error| error.to_string())?;
        times.push(time);
        last = Some(reply);
        let probe = post(address, r#"{"query":"{ start { id } }"}"#, client::Framing::Length);
        match tokio::time::timeout(GIVE_UP, probe).await {
            Ok(Ok((reply, _))) if reply.body.contains(r#"{"data":{"start":{"id":0}}}"#) => {}
            _ => return Err("the server does not answer any more".to_owned()),
        }
    }
    last.map(|reply| (reply, times)).ok_or_else(|| "no tries".to_owned())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
