//! Ordinary clients, each of which asks again once it has an answer.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const BODY: &str = r#"{"query":"{ works { id } }"}"#;
/// The number of clients.
const CLIENTS: usize = 4;
/// The longest that an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The answers that the clients got in some time.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The times of those with data, sorted.
    times: Vec<Duration>,
    /// All others.
    pub(crate) refused: usize,
}

impl Answers {
    /// The number of those with data.
    pub(crate) fn count(&self) -> f64 {
        self.times.len() as f64
    }

    /// The time within which 99 % of them came.
    pub(crate) fn late(&self) -> Duration {
        let last = self.times.len().saturating_sub(1);
        let index = (self.times.len() * 99 / 100).min(last);
        self.times.get(index).copied().unwrap_or_default()
    }

    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.refused += other.refused;
    }
}

/// Has the clients ask for some time.
pub(crate) async fn ask(address: SocketAddr, time: Duration) -> Result<Answers> {
    let end = Instant::now() + time;
    let mut asking = JoinSet::new();
    for _ in 0..CLIENTS {
        asking.spawn(client(address, end));
    }
    let mut all = Answers::default();
    while let Some(answers) = asking.join_next().await {
        all.add(answers??);
    }
    all.times.sort_unstable();
    Ok(all)
}

async fn client(address: SocketAddr, end: Instant) -> Result<Answers> {
    let request = format!(
        "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut answers = Answers::default();
    while Instant::now() < end {
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        let is_good = tokio::time::timeout(PATIENCE, is_answered(&mut stream))
            .await
            .context("no answer in a minute")??;
        if is_good {
            answers.times.push(start.elapsed());
        } else {
            answers.refused += 1;
        }
    }
    Ok(answers)
}

/// Reads an answer; whether it is one with data.
async fn is_answered(stream: &mut TcpStream) -> Result<bool> {
    let mut answer = Vec::with_capacity(1_024);
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            bail!("the server has closed the connection of an ordinary client");
        }
        let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&answer[..head])?;
        let length: usize = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .context("no length")?
            .1
            .trim()
            .parse()?;
        let body = &answer[head + 4..];
        if body.len() >= length {
            return Ok(text.starts_with("HTTP/1.1 200") && body.starts_with(b"{\"data\":"));
        }
    }
}
