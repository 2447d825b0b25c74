//! Files, written to temporary files while they arrive.

use axum::http::StatusCode;
use multer::Field;
use tempfile::{Builder, NamedTempFile};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::refused;
use crate::http::reply::Refusal;
use svc_core::ErrorCode;
use svc_engine::upload::{PREFIX, UploadConfig, UploadedFile};

/// Stores the file of a field. A file that does not arrive completely is deleted.
pub(super) async fn store(
    mut field: Field<'_>,
    config: &UploadConfig,
) -> Result<UploadedFile, Refusal> {
    let (name, content_type) = (
        field.file_name().map(str::to_owned),
        field.content_type().map(ToString::to_string),
    );
    let (file, path) = create(config)
        .map_err(|error| not_stored(&error))?
        .into_parts();

    // The lock lasts until the last handle of the file is closed, so a second handle stays open for
    // as long as the upload is in use.
    let lock = file.try_clone().map_err(|error| not_stored(&error))?;
    let (mut file, mut size) = (File::from_std(file), 0);
    while let Some(part) = field.chunk().await.map_err(refused)? {
        file.write_all(&part)
            .await
            .map_err(|error| not_stored(&error))?;
        size += part.len() as u64;
    }

    // tokio writes in the background and reports the error of a write with a later call, so a full
    // disk may show only here.
    file.flush().await.map_err(|error| not_stored(&error))?;

    Ok(UploadedFile::new(name, content_type, size, path, lock))
}

/// Creates a file that no other user may read. It is locked while in use, so that files left by a
/// killed process can be detected.
fn create(config: &UploadConfig) -> std::io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    let builder = builder.prefix(PREFIX);
    let file = match &config.dir {
        Some(dir) => builder.tempfile_in(dir),
        None => builder.tempfile(),
    }?;

    // On a file system without locks, leftover files cannot be detected.
    let _ = file.as_file().lock();

    Ok(file)
}

fn not_stored(error: &std::io::Error) -> Refusal {
    tracing::error!(%error, "cannot store an uploaded file");
    let message = "the files cannot be stored at the moment; try again later";
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::ServiceUnavailable,
        message,
    )
}
