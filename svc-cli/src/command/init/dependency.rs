//! The source of the crate `svc` for a new project.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Arguments;
use crate::failure::{Failure, Result};

/// The version of this tool, and of the crate that it works with.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder of this tool's build. It is in a checkout unless the tool comes from a registry.
const BUILT_IN: &str = env!("CARGO_MANIFEST_DIR");

/// A source of the crate for cargo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dependency {
    /// The registry has this tool's version.
    Registry,
    /// A folder of this machine, with the checkout that contains it, if any.
    Folder {
        krate: PathBuf,
        checkout: Option<PathBuf>,
    },
    /// A git repository, and a revision or branch of it.
    Git {
        url: String,
        at: Option<(&'static str, String)>,
    },
}

impl Dependency {
    /// The dependency from the arguments, or else the source of this tool.
    pub(super) fn choose(arguments: &Arguments) -> Result<Self> {
        if let Some(folder) = &arguments.svc_path {
            return Self::folder(folder);
        }

        let Some(url) = arguments.svc_git.clone() else {
            return Ok(Self::of_tool());
        };

        let revision = arguments.svc_rev.clone().map(|revision| ("rev", revision));
        let branch = arguments
            .svc_branch
            .clone()
            .map(|branch| ("branch", branch));

        Ok(Self::Git {
            url,
            at: revision.or(branch),
        })
    }

    /// The crate in a folder, which may be the root of the repository.
    fn folder(folder: &Path) -> Result<Self> {
        let found = folder.canonicalize().map_err(|error| {
            Failure::usage(format!("cannot find {}: {error}", folder.display())).hint(
                "--svc-path takes a checkout of the svc repository, or the folder `svc` in it",
            )
        })?;

        let inner = found.join("svc");
        if is_crate(&inner) {
            return Ok(Self::Folder {
                krate: inner,
                checkout: Some(found),
            });
        }

        if is_crate(&found) {
            let checkout = found
                .parent()
                .filter(|parent| parent.join("svc-cli").is_dir())
                .map(Path::to_owned);
            return Ok(Self::Folder {
                krate: found,
                checkout,
            });
        }

        Err(
            Failure::usage(format!("{} has no crate `svc`", folder.display())).hint(
                "--svc-path takes a checkout of the svc repository, or the folder `svc` in it",
            ),
        )
    }

    /// The source of this tool: the git repository passed to `cargo install --git`, or the checkout
    /// of the build if it exists and still has this version, or else the registry.
    fn of_tool() -> Self {
        let Some(checkout) = Path::new(BUILT_IN)
            .parent()
            .filter(|folder| has_version(folder, VERSION))
        else {
            return Self::Registry;
        };

        let installed =
            cargo_home().and_then(|home| fs::read_to_string(home.join(".crates2.json")).ok());

        // Cargo deletes the checkouts in its cache, so a project cannot depend on a path there.
        let is_copy =
            cargo_home().is_some_and(|home| checkout.starts_with(home.join("git/checkouts")));
        let of_git = installed
            .filter(|_| is_copy)
            .and_then(|text| installed_from(&text, VERSION));

        of_git.unwrap_or_else(|| Self::Folder {
            krate: checkout.join("svc"),
            checkout: Some(checkout.to_owned()),
        })
    }

    /// Its keys in a table of `Cargo.toml`.
    pub(super) fn manifest(&self) -> String {
        match self {
            Self::Registry => format!("version = \"={VERSION}\""),
            Self::Folder { krate, .. } => format!("path = {}", quoted(&krate.to_string_lossy())),
            Self::Git { url, at: None } => format!("git = {}", quoted(url)),
            Self::Git {
                url,
                at: Some((key, value)),
            } => format!("git = {}, {key} = {}", quoted(url), quoted(value)),
        }
    }

    /// The arguments of `cargo install` for this tool from the same source; none for a folder.
    pub(super) fn install(&self) -> Option<String> {
        match self {
            Self::Registry => Some(format!("svc-cli --version {VERSION}")),
            Self::Folder { .. } => None,
            Self::Git { url, at: None } => Some(format!("--git {url} svc-cli")),
            Self::Git {
                url,
                at: Some((key, value)),
            } => Some(format!("--git {url} --{key} {value} svc-cli")),
        }
    }

    /// The checkout on this machine.
    pub(super) fn checkout(&self) -> Option<&Path> {
        match self {
            Self::Folder { krate, checkout } => Some(checkout.as_deref().unwrap_or(krate)),
            Self::Registry | Self::Git { .. } => None,
        }
    }

    /// The note for the user; none for the registry.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Registry => None,
            Self::Folder { krate, .. } => Some(format!(
                "the project depends on svc in {}, and builds only where that folder is; for other machines: \
                 svc init --svc-git URL",
                krate.display()
            )),
            Self::Git { url, .. } => Some(format!("the project depends on svc in {url}")),
        }
    }
}

/// A text in TOML syntax.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn cargo_home() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}

/// Whether a folder contains the crate `svc`.
fn is_crate(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| {
        text.lines()
            .any(|line| line.split_whitespace().eq(["name", "=", "\"svc\""]))
    })
}

/// Whether a folder is a checkout of a version.
fn has_version(folder: &Path, version: &str) -> bool {
    let wanted = format!("\"{version}\"");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    is_crate(&folder.join("svc"))
        && manifest.lines().any(|line| {
            line.split_whitespace()
                .eq(["version", "=", wanted.as_str()])
        })
}

/// The repository and revision of this tool's installation, from cargo's list.
fn installed_from(list: &str, version: &str) -> Option<Dependency> {
    let list: Value = serde_json::from_str(list).ok()?;
    let prefix = format!("svc-cli {version} (git+");
    let source = list
        .get("installs")?
        .as_object()?
        .keys()
        .find_map(|key| key.strip_prefix(&prefix))?;

    let (url, revision) = source.strip_suffix(')')?.split_once('#')?;

    // The branch or the tag of the installation; the revision is more exact.
    let url = url.split('?').next().unwrap_or(url);

    Some(Dependency::Git {
        url: url.to_owned(),
        at: Some(("rev", revision.to_owned())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_of_another_version_is_none() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };

        assert!(!has_version(place.path(), "1.2.3"));
        write("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n");
        assert!(!has_version(place.path(), "1.2.3"), "no crate");
        write("svc/Cargo.toml", "[package]\nname = \"svc\"\n");
        assert!(has_version(place.path(), "1.2.3"));

        assert!(!has_version(place.path(), "1.2.4"));
    }

    #[test]
    fn the_list_of_cargo_names_the_revision() {
        let list = r#"{"installs": {"other 1.0.0 (registry+x)": {},
            "svc-cli 1.2.3 (git+https://example.org/svc?branch=main#0123abcd)": {}}}"#;
        let found = installed_from(list, "1.2.3").unwrap();
        assert_eq!(
            found.manifest(),
            r#"git = "https://example.org/svc", rev = "0123abcd""#
        );
        assert_eq!(
            found.install().unwrap(),
            "--git https://example.org/svc --rev 0123abcd svc-cli"
        );
        assert_eq!(installed_from(list, "1.2.4"), None);

        assert_eq!(installed_from("{}", "1.2.3"), None);
    }

    #[test]
    fn quotes_in_paths_are_escaped() {
        let folder = Dependency::Folder {
            krate: PathBuf::from("/a \"b\"/svc"),
            checkout: None,
        };
        assert_eq!(folder.manifest(), r#"path = "/a \"b\"/svc""#);
    }
}
