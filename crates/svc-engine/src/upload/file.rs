//! Files of a request, stored in a directory for temporary files until the request has ended.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;
use uuid::Uuid;

use super::token::{FIELD, Token};
use svc_core::exact_json::ExactJson;
use svc_core::{Error, Result};

/// A file that a client has sent.
pub struct UploadedFile {
    name: Option<String>,
    content_type: Option<String>,
    size: u64,
    path: TempPath,
    /// Locked as long as the file may exist, so that no other instance deletes it.
    _lock: File,
}

impl UploadedFile {
    #[doc(hidden)]
    pub fn new(
        name: Option<String>,
        content_type: Option<String>,
        size: u64,
        path: TempPath,
        lock: File,
    ) -> Self {
        Self {
            name,
            content_type,
            size,
            path,
            _lock: lock,
        }
    }

    /// Returns the file name sent by the client, if there is one. It can be any text: do not make a
    /// path of it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the media type sent by the client, if there is one. The file may be of another.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// If the file cannot be read; the error is masked for clients.
    pub async fn read(&self) -> Result<Vec<u8>> {
        tokio::fs::read(&self.path)
            .await
            .map_err(|error| Error::internal(format!("a file cannot be read: {error}")))
    }

    /// Copies the file to a permanent place.
    ///
    /// # Errors
    /// If the file cannot be copied; the error is masked for clients.
    pub async fn copy_to(&self, path: impl Into<PathBuf>) -> Result<()> {
        let copied = tokio::fs::copy(&self.path, path.into()).await;
        copied
            .map(drop)
            .map_err(|error| Error::internal(format!("a file cannot be copied: {error}")))
    }
}

impl fmt::Debug for UploadedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UploadedFile")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// The files of a request.
#[derive(Debug, Clone)]
pub struct UploadedFiles {
    request: Uuid,
    files: Arc<[UploadedFile]>,
}

impl UploadedFiles {
    pub fn new(request: Uuid, files: Vec<UploadedFile>) -> Self {
        Self {
            request,
            files: files.into(),
        }
    }

    /// The value of variables that represent a file.
    pub fn value(request: Uuid, index: usize) -> ExactJson {
        let text = ExactJson::String(Token { request, index }.text());
        std::iter::once((FIELD.to_owned(), text)).collect()
    }

    /// Whether a value represents a file.
    pub(crate) fn is_value(json: &ExactJson) -> bool {
        let ExactJson::Object(fields) = json else {
            return false;
        };
        let is_token = |value: &ExactJson| matches!(value, ExactJson::String(text) if text.parse::<Token>().is_ok());
        fields.len() == 1 && fields.get(FIELD).is_some_and(is_token)
    }

    pub(super) fn get(&self, token: &Token) -> Option<&UploadedFile> {
        self.files
            .get(token.index)
            .filter(|_| token.request == self.request)
    }
}
