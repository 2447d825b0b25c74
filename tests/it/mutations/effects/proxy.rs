//! A proxy before PostgreSQL that loses answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use svc_tests::TestDatabase;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

/// Passes everything on until it is told to lose an answer.
pub(super) struct Proxy {
    url: String,
    folder: PathBuf,
    /// The text in a client's message to which the answer is lost.
    losing: Arc<Mutex<Option<&'static str>>>,
}

impl Proxy {
    pub(super) fn new(database: &TestDatabase) -> Self {
        let url = database.url();
        let (before, rest) = url.split_once("host=").unwrap();
        let (host, after) = rest.split_once('&').unwrap();
        let port = after.split('&').find_map(|part| part.strip_prefix("port=")).unwrap();
        let folder = std::env::temp_dir().join(format!("svc-proxy-{}", svc::prelude::Uuid::new_v4().simple()));
        std::fs::create_dir(&folder).unwrap();
        let name = format!(".s.PGSQL.{port}");
        let server = Path::new(&host.replace("%2F", "/").replace("%2f", "/")).join(&name);
        let losing = Arc::<Mutex<Option<&'static str>>>::default();
        tokio::spawn(accept(UnixListener::bind(folder.join(&name)).unwrap(), server, losing.clone()));
        Self { url: format!("{before}host={}&{after}", folder.display()), folder, losing }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Loses the answer to the next message with this text in it, and closes that connection.
    pub(super) fn lose_answer_to(&self, text: &'static str) {
        *self.losing.lock().unwrap() = Some(text);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

async fn accept(listener: UnixListener, server: PathBuf, losing: Arc<Mutex<Option<&'static str>>>) {
    while let Ok((client, _)) = listener.accept().await {
        let server = UnixStream::connect(&server).await.unwrap();
        tokio::spawn(pass(client, server, losing.clone()));
    }
}

async fn pass(mut client: UnixStream, mut server: UnixStream, losing: Arc<Mutex<Option<&'static str>>>) {
    let (mut sent, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut sent) => match read {
                Ok(0) | Err(_) => return,
                Ok(length) => {
                    server.write_all(&sent[..length]).await.unwrap();
                    let is_it = |text: &mut &str| holds(text.as_bytes(), &sent[..length]);
                    let lost = losing.lock().unwrap().take_if(|text| is_it(text));
                    if let Some(text) = lost {
                        return until_done(&mut server, text == "BEGIN").await;
                    }
                }
            },
            read = server.read(&mut answered) => match read {
                Ok(0) | Err(_) => return,
                Ok(length) => if client.write_all(&answered[..length]).await.is_err() { return },
            },
        }
    }
}

fn holds(text: &[u8], bytes: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Reads answers until PostgreSQL has done all that it was sent: it would drop what it has not read when we leave.
async fn until_done(server: &mut UnixStream, in_transaction: bool) {
    let mut answered = Vec::new();
    while server.read_buf(&mut answered).await.is_ok_and(|length| length > 0) {
        // ReadyForQuery, and whether a transaction is open.
        if answered.ends_with(b"Z\0\0\0\x05I") || (in_transaction && answered.ends_with(b"Z\0\0\0\x05T")) {
            return;
        }
    }
}
