//! The counterpart of `proxy.rs` on systems without Unix sockets.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use crate::connect::ConnectConfig;

/// A socket that never exists.
#[derive(Debug)]
pub(crate) enum Proxy {}

impl Proxy {
    /// Returns no proxy if sqlx needs none.
    ///
    /// # Errors
    /// When sqlx would need one.
    pub(crate) fn for_sqlx(connect: &ConnectConfig) -> Result<Option<Self>> {
        if connect.suits_sqlx() {
            return Ok(None);
        }
        let why = "several hosts, sslrootcert and settings of sockets in the database URL need a system with Unix sockets";
        Err(Error::new(ErrorKind::Unsupported, why))
    }

    /// The directory of the socket.
    pub(crate) fn folder(&self) -> &Path {
        match *self {}
    }
}
