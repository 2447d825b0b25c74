//! The settings of uploads.

use std::path::PathBuf;
use std::time::Duration;

use svc_core::settings::{Count, Flag, Maybe, Path, Seconds, settings};

settings! {
    /// The settings of files that clients send; the field `uploads` of `SvcConfig`.
    pub struct UploadConfig {
        /// Whether mutations may get files, by the [multipart request
        /// specification](https://github.com/jaydenseric/graphql-multipart-request-spec).
        enabled: bool = false, ["SVC_UPLOADS"], Flag;
        /// The most files of a request.
        max_files: usize = 10, ["SVC_UPLOAD_MAX_FILES"], Count(1..=1_000, "files");
        /// The most bytes of a file.
        max_file_size: u64 = 10_485_760, ["SVC_UPLOAD_MAX_FILE_SIZE"], Count(1..=1_099_511_627_776, "bytes");
        /// The most bytes of a request with files.
        max_size: u64 = 52_428_800, ["SVC_UPLOAD_MAX_SIZE"], Count(1..=1_099_511_627_776, "bytes");
        /// The time for a client to send a request with files.
        timeout: Duration = Duration::from_secs(300), ["SVC_UPLOAD_TIMEOUT"], Seconds(1..=86_400);
        /// The folder for files until their mutation has ended; that of the system for temporary
        /// files unless it is set.
        dir: Option<PathBuf> = None, ["SVC_UPLOAD_DIR"], Maybe(Path);
    }
}
