//! The socket of `proxy.rs`, on systems without such sockets.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use crate::postgres::connect::ConnectConfig;

/// A socket that there never is.
#[derive(Debug)]
pub(crate) enum Proxy {}

impl Proxy {
    /// No proxy, where sqlx needs none.
    ///
    /// # Errors
    /// When it would need one.
    pub(crate) fn for_sqlx(connect: &ConnectConfig) -> Result<Option<Self>> {
        if connect.suits_sqlx() {
            return Ok(None);
        }
        let why =
            "several hosts, sslrootcert and settings of sockets in the database URL need a system with Unix sockets";
        Err(Error::new(ErrorKind::Unsupported, why))
    }

    /// The folder of the socket.
    pub(in crate::postgres) fn folder(&self) -> &Path {
        match *self {}
    }
}
