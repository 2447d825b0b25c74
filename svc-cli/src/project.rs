//! The project in the current folder.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The folder of svc's files in a project.
const PRIVATE: &str = ".svc";

/// The permissions of others to write into a folder.
const WRITABLE: u32 = 0o022;

/// The variables for the database's URL; the first one set wins.
const URLS: [&str; 2] = ["SVC_DATABASE_URL", "DATABASE_URL"];

/// A folder with a `Cargo.toml`, and the settings of its `.env`.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
    settings: Vec<(String, String)>,
}

impl Project {
    /// The project of the current folder.
    pub(crate) fn open() -> Result<Self> {
        let root = std::env::current_dir().map_err(Failure::io("find the current folder"))?;
        if !root.join("Cargo.toml").is_file() {
            let failure = Failure::new(format!(
                "Not in a project directory: {} has no Cargo.toml",
                root.display()
            ));
            return Err(
                failure.hint("go to the project's folder, or create a project: svc init NAME")
            );
        }

        Self::at(root)
    }

    /// The project of the database commands: the given folder, which may be its `db`, or else the
    /// current folder. The files of `db` are enough, as in an image for deployment.
    pub(crate) fn of_database(folder: Option<&Path>) -> Result<Self> {
        let Some(folder) = folder else {
            let root = std::env::current_dir().map_err(Failure::io("find the current folder"))?;
            return if root.join("db").is_dir() {
                Self::at(root)
            } else {
                Self::open()
            };
        };

        let root = std::path::absolute(folder)
            .map_err(Failure::io(format!("find {}", folder.display())))?;
        let has = |root: &Path| {
            ["migrations", "schema"]
                .iter()
                .any(|kind| root.join(kind).is_dir())
        };

        if has(&root.join("db")) || root.join("Cargo.toml").is_file() {
            return Self::at(root);
        }

        match root.parent() {
            Some(parent) if root.ends_with("db") && has(&root) => Self::at(parent.to_owned()),
            _ => Err(
                Failure::new(format!("{} has no database files", folder.display())).hint(
                    "name the folder that holds db/migrations and db/schema: --project FOLDER",
                ),
            ),
        }
    }

    /// The settings of the current folder, with or without a project in it.
    pub(crate) fn anywhere() -> Result<Self> {
        Self::at(std::env::current_dir().map_err(Failure::io("find the current folder"))?)
    }

    /// The project of a folder.
    pub(crate) fn at(root: PathBuf) -> Result<Self> {
        let settings = read_settings(&root.join(".env"))?;
        Ok(Self { root, settings })
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of svc's files in the project, which may not exist.
    pub(crate) fn private(&self) -> PathBuf {
        self.root.join(PRIVATE)
    }

    /// Creates the folder of svc's files, and returns it. Only its owner may write into it, with
    /// every umask: the files in it name processes to stop, and the sockets of a database that
    /// trusts its users.
    pub(crate) fn create_private(&self) -> Result<PathBuf> {
        create_closed(self.private())
    }

    /// Creates a folder of the same kind in the folder of svc's files, and returns it.
    pub(crate) fn create_private_folder(&self, name: &str) -> Result<PathBuf> {
        create_closed(self.create_private()?.join(name))
    }

    /// The settings of `.env` that the environment does not set itself.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &(String, String)> {
        self.settings
            .iter()
            .filter(|(name, _)| std::env::var_os(name).is_none())
    }

    /// A setting from the environment, or else from `.env`.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        // Docker Compose and CI set a missing variable to an empty text.
        let given = std::env::var(name).ok().filter(|value| !value.is_empty());
        given.or_else(|| {
            self.settings
                .iter()
                .rev()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.clone())
        })
    }

    /// The URL of the database.
    pub(crate) fn database_url(&self) -> Result<String> {
        URLS.iter()
            .find_map(|name| self.setting(name))
            .ok_or_else(|| {
                let is_clone =
                    !self.root.join(".env").exists() && self.root.join(".env.example").is_file();
                let copy = "copy the settings for development: cp .env.example .env";
                Failure::new("no database URL is set")
                    .hints(is_clone.then(|| copy.to_owned()))
                    .hint("set SVC_DATABASE_URL in .env: postgresql://user:password@host:5432/name")
            })
    }
}

fn create_closed(folder: PathBuf) -> Result<PathBuf> {
    // A server that root starts runs as another user, who has to pass through the folder.
    let mode = if rustix::process::geteuid().is_root() {
        0o711
    } else {
        0o700
    };

    let created = DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(&folder)
        .and_then(|()| close(&folder));

    created.map_err(Failure::io(format!("create {}", folder.display())))?;

    Ok(folder)
}

/// Takes the permission to write from others, if a folder gives it.
fn close(folder: &Path) -> std::io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & WRITABLE == 0 {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(mode & !WRITABLE))
}

/// The settings of a file in dotenv format; none if the file does not exist.
fn read_settings(file: &Path) -> Result<Vec<(String, String)>> {
    if !file.exists() {
        return Ok(Vec::new());
    }

    let bad = |error: dotenvy::Error| {
        Failure::new(format!("cannot read .env: {error}"))
            .hint("write each line as NAME=value; quote values with spaces or `#`: NAME='a b'")
    };

    dotenvy::from_path_iter(file)
        .map_err(bad)?
        .collect::<Result<_, _>>()
        .map_err(bad)
}
