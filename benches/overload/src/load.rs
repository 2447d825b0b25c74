//! Load: clients that wait for their answers, and requests that come whether others are answered or
//! not.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::tally::Answer;

const BODY: &str = r#"{"query":"{ work { count } }"}"#;
/// The time between two looks at which requests are due.
const TICK: Duration = Duration::from_millis(2);
/// The longest that an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

static REQUEST: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
    format!("{head}\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len()).into_bytes()
});

/// The connections that wait for a request.
type Idle = Arc<Mutex<Vec<TcpStream>>>;

/// The answers that so many clients get, each of which asks again once it has one.
pub(crate) async fn closed(
    address: SocketAddr,
    clients: usize,
    time: Duration,
) -> Result<Vec<Answer>> {
    let start = Instant::now();
    let mut asking = JoinSet::new();
    for _ in 0..clients {
        asking.spawn(async move {
            let (idle, mut answers) = (Idle::default(), Vec::new());
            while start.elapsed() < time {
                answers.push(ask(address, &idle, start, start.elapsed()).await?);
            }
            anyhow::Ok(answers)
        });
    }
    let mut all = Vec::new();
    while let Some(answers) = asking.join_next().await {
        all.extend(answers??);
    }
    Ok(all)
}

/// The answers to so many requests a second. Their times count from when each was due.
pub(crate) async fn open(address: SocketAddr, rate: f64, time: Duration) -> Result<Vec<Answer>> {
    let (start, idle) = (Instant::now(), Idle::default());
    let (mut asking, mut answers, mut sent) = (JoinSet::new(), Vec::new(), 0_u32);
    let mut ticks = tokio::time::interval(TICK);
    while start.elapsed() < time {
        ticks.tick().await;
        while f64::from(sent) < start.elapsed().as_secs_f64() * rate {
            let (idle, due) = (
                idle.clone(),
                Duration::from_secs_f64(f64::from(sent) / rate),
            );
            asking.spawn(async move { ask(address, &idle, start, due).await });
            sent += 1;
        }
        while let Some(answer) = asking.try_join_next() {
            answers.push(answer??);
        }
    }
    while let Some(answer) = asking.join_next().await {
        answers.push(answer??);
    }
    Ok(answers)
}

async fn ask(address: SocketAddr, idle: &Idle, start: Instant, due: Duration) -> Result<Answer> {
    let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut stream = match kept {
        Some(stream) => stream,
        None => connect(address).await?,
    };
    stream.write_all(&REQUEST).await?;
    let status = tokio::time::timeout(PATIENCE, read(&mut stream))
        .await
        .context("no answer in a minute")??;
    let answer = Answer {
        due,
        took: start.elapsed().saturating_sub(due),
        status,
    };
    idle.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(stream);
    Ok(answer)
}

async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads an answer; its status.
async fn read(stream: &mut TcpStream) -> Result<u16> {
    let mut answer = Vec::with_capacity(1_024);
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            bail!("the server has closed the connection");
        }
        let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&answer[..head])?;
        let length = text.lines().filter_map(|line| line.split_once(':'));
        let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length
            .map(|(_, value)| value.trim())
            .next()
            .context("no length")?
            .parse()?;
        if answer.len() >= head + 4 + length {
            return text
                .get(9..12)
                .context("no status")?
                .parse()
                .context("no status");
        }
    }
}
