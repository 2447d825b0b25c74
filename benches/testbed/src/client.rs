//! Requests, one after the other, over one connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// The longest wait for an answer; a server under valgrind is slow.
const PATIENCE: Duration = Duration::from_secs(120);
/// The beginning of every answer without errors.
const DATA: &[u8] = b"{\"data\":";

/// A request, ready to be sent in one write, so that the server always reads it in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request(Vec<u8>);

impl Request {
    /// A `POST /graphql` of a document and its variables.
    pub fn new(document: &str, variables: &Value) -> Self {
        Self::with_headers(document, variables, "")
    }

    /// The same with further headers, each with its line end.
    pub fn with_headers(document: &str, variables: &Value, headers: &str) -> Self {
        let body = json!({ "query": document, "variables": variables }).to_string();
        Self::written("/graphql", &body, headers)
    }

    /// A `POST` of a JSON body to a path.
    pub fn post(path: &str, body: &str) -> Self {
        Self::written(path, body, "")
    }

    /// A `GET` of a path.
    pub fn get(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes())
    }

    fn written(path: &str, body: &str, headers: &str) -> Self {
        let length = body.len();
        let head = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json";
        Self(
            format!(
                "POST {path} HTTP/1.1\r\n{head}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
            )
            .into_bytes(),
        )
    }
}

/// A connection that is kept open.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
    answer: Vec<u8>,
}

impl Client {
    /// Connects to a server.
    pub fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: BufReader::new(stream),
            answer: Vec::new(),
        })
    }

    /// Sends a request and waits for its answer; one with errors is an error.
    pub fn send(&mut self, request: &Request) -> Result<&[u8]> {
        self.ask(request)?;
        ensure!(
            self.answer.starts_with(DATA),
            "the server refuses: {}",
            String::from_utf8_lossy(&self.answer[..self.answer.len().min(400)])
        );
        Ok(&self.answer)
    }

    /// Sends a request and waits for its answer, whatever that is.
    pub fn ask(&mut self, request: &Request) -> Result<&[u8]> {
        self.stream.get_mut().write_all(&request.0)?;
        let length = self.head().context("the head of the answer")?;
        self.answer.resize(length, 0);
        self.stream.read_exact(&mut self.answer)?;
        Ok(&self.answer)
    }

    /// Reads up to the body and says how long that is.
    fn head(&mut self) -> Result<usize> {
        let (mut line, mut length) = (String::new(), None);
        loop {
            line.clear();
            ensure!(
                self.stream.read_line(&mut line)? > 0,
                "the server has closed the connection"
            );
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(value.trim().parse()?)
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => return length.context("no Content-Length"),
                None => {}
            }
        }
    }
}
