//! The upload setting in a build without uploads.

use svc_core::settings::ConfigError;
use svc_engine::upload::UploadConfig;

/// Rejects the setting if the build cannot receive files.
///
/// # Errors
/// The setting's error.
pub(in crate::app) fn refuse(uploads: &UploadConfig) -> Result<(), ConfigError> {
    let allowed =
        "it must be false, or the program has to be built with the feature `upload` of svc";
    if uploads.enabled {
        Err(ConfigError::new("SVC_UPLOADS", "true", allowed))
    } else {
        Ok(())
    }
}
