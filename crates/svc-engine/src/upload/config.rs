//! The settings of uploads.

use std::path::PathBuf;
use std::time::Duration;

use svc_core::settings::{Count, Flag, Maybe, Path, Seconds, settings};

settings! {
    /// The settings of file uploads; the field `uploads` of `SvcConfig`.
    pub struct UploadConfig {
        /// Enables file uploads for mutations, as in the [multipart request
        /// specification](https://github.com/jaydenseric/graphql-multipart-request-spec).
        enabled: bool = false, ["SVC_UPLOADS"], Flag;
        /// Maximum number of files in a request.
        max_files: usize = 10, ["SVC_UPLOAD_MAX_FILES"], Count(1..=1_000, "files");
        /// Maximum size of a file, in bytes.
        max_file_size: u64 = 10_485_760, ["SVC_UPLOAD_MAX_FILE_SIZE"], Count(1..=1_099_511_627_776, "bytes");
        /// Maximum size of a request with files, in bytes.
        max_size: u64 = 52_428_800, ["SVC_UPLOAD_MAX_SIZE"], Count(1..=1_099_511_627_776, "bytes");
        /// Maximum time to receive a request with files.
        timeout: Duration = Duration::from_secs(300), ["SVC_UPLOAD_TIMEOUT"], Seconds(1..=86_400);
        /// Folder for uploaded files until their mutation has ended; by default the system's folder
        /// for temporary files.
        dir: Option<PathBuf> = None, ["SVC_UPLOAD_DIR"], Maybe(Path);
    }
}
