//! The setting of uploads in a build that has none.

use crate::settings::ConfigError;
use crate::upload::UploadConfig;

/// Refuses files where the build cannot take them.
///
/// # Errors
/// That of the setting.
pub(super) fn refuse(uploads: &UploadConfig) -> Result<(), ConfigError> {
    let allowed = "it must be false, or the program has to be built with the feature `upload` of svc";
    if uploads.enabled { Err(ConfigError::new("SVC_UPLOADS", "true", allowed)) } else { Ok(()) }
}
