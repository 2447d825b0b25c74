//! A network that can be broken.

use network::Flow;

use crate::{TestDatabase, cluster};

/// A network before the tests' PostgreSQL that can be broken.
#[derive(Debug)]
pub struct Proxy(network::Proxy);

impl Proxy {
    /// A proxy that passes everything on.
    pub async fn new() -> Self {
        let url = cluster().url();
        let port = url
            .split('&')
            .find_map(|part| part.strip_prefix("port="))
            .expect("a port");
        let socket = cluster().socket_folder().join(format!(".s.PGSQL.{port}"));
        Self(network::Proxy::start(socket).await.expect("a free port"))
    }

    /// The URL of a database behind the proxy.
    pub fn url(&self, database: &TestDatabase) -> String {
        self.0.url(database.name())
    }

    /// Passes bytes on in this way from now on.
    pub fn set(&self, flow: Flow) {
        self.0.set(flow);
    }

    /// Returns the number of round trips so far, of clients that do not speak at the same time.
    pub fn round_trips(&self) -> usize {
        self.0.round_trips()
    }

    /// Loses the answer to the next message with this text in it, and closes that connection.
    pub fn lose_answer_to(&self, text: &'static str) {
        self.0.lose_answer_to(text);
    }
}
