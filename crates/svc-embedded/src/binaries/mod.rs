//! The search for the programs `postgres` and `initdb`.

mod cache;
#[cfg(feature = "download")]
mod download;
mod places;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::{Error, Result, Version, blocking::blocking, spawn};

/// A folder with the PostgreSQL server's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
    version: Version,
}

impl Binaries {
    /// Finds a PostgreSQL server, in this order:
    ///
    /// 1. the explicit folder,
    /// 2. `SVC_PG_BIN`,
    /// 3. the newest one installed (Debian, Red Hat, Homebrew, Postgres.app, `pg_config --bindir`),
    /// 4. a copy in the user's cache,
    /// 5. with the feature `download`, a download into that cache.
    ///
    /// # Errors
    ///
    /// [`Error::WrongBinaries`] if the explicit folder or `SVC_PG_BIN` contains no usable server,
    /// [`Error::NoServer`] if none is found.
    pub async fn find(explicit: Option<PathBuf>) -> Result<Self> {
        Self::find_preferring(explicit, None).await
    }

    /// Like [`Binaries::find`], but prefers an installed server of the cluster's major version to a
    /// newer one, so that an existing cluster stays usable after a system upgrade.
    pub(crate) async fn find_preferring(
        explicit: Option<PathBuf>,
        cluster: Option<String>,
    ) -> Result<Self> {
        if let Some(found) = blocking(move || find_here(explicit, cluster.as_deref())).await? {
            return Ok(found);
        }

        #[cfg(feature = "download")]
        return match download::fetch().await {
            Ok(folder) => blocking(move || Self::at(&folder))
                .await
                .map_err(|problem| Error::NoServer {
                    download: Some(problem),
                }),
            Err(why) => Err(Error::NoServer {
                download: Some(why),
            }),
        };

        #[cfg(not(feature = "download"))]
        Err(Error::NoServer { download: None })
    }

    /// Returns the folder that contains the programs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the server's version.
    pub fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Checks that a folder contains both programs and that the server runs. The error describes
    /// the problem.
    fn at(folder: &Path) -> Result<Self, String> {
        for name in ["postgres", "initdb"] {
            if !folder.join(name).is_file() {
                return Err(format!("it holds no program `{name}`"));
            }
        }

        let output = spawn::command(folder.join("postgres"))
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("its `postgres` can't be run ({error})"))?;

        let text = String::from_utf8_lossy(&output.stdout);
        let version = Version::parse(&text).ok_or_else(|| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            format!(
                "its `postgres --version` printed `{}`",
                format!("{text}{complaint}").trim()
            )
        })?;

        // The server is started from another working directory.
        let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;

        Ok(Self { folder, version })
    }
}

/// Searches without the network.
fn find_here(explicit: Option<PathBuf>, cluster: Option<&str>) -> Result<Option<Binaries>> {
    if let Some(path) = explicit {
        return named("the option `binaries`", path).map(Some);
    }
    if let Some(path) = std::env::var_os("SVC_PG_BIN").filter(|value| !value.is_empty()) {
        return named("SVC_PG_BIN", path.into()).map(Some);
    }
    Ok(best(&places::installed(), cluster).or_else(|| best(&cache::copies(), cluster)))
}

fn named(origin: &'static str, path: PathBuf) -> Result<Binaries> {
    Binaries::at(&path).map_err(|problem| Error::WrongBinaries {
        origin,
        path,
        problem,
    })
}

/// Returns the newest usable server, but prefers one with the cluster's version.
fn best(folders: &[PathBuf], cluster: Option<&str>) -> Option<Binaries> {
    // A broken installation, such as one without its libraries, is no reason to fail.
    folders
        .iter()
        .filter_map(|folder| Binaries::at(folder).ok())
        .max_by_key(|binaries| {
            let fits = cluster.is_some_and(|cluster| binaries.version.runs(cluster));
            (fits, binaries.version)
        })
}
