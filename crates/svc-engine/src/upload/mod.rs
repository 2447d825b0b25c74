//! Files that clients send with a mutation.

mod config;
#[cfg(feature = "upload")]
mod file;
#[cfg(feature = "upload")]
mod scalar;
#[cfg(feature = "upload")]
mod sweep;
#[cfg(feature = "upload")]
mod token;

pub use config::UploadConfig;
#[cfg(feature = "upload")]
pub use file::UploadedFile;
#[cfg(feature = "upload")]
pub use scalar::Upload;

#[cfg(feature = "upload")]
pub use file::UploadedFiles;
#[cfg(feature = "upload")]
pub use sweep::{PREFIX, sweep};
