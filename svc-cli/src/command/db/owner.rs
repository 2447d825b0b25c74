//! Determines which project owns the server at an address.
//!
//! Servers started by svc have the project in their setting `cluster_name`, which every user may
//! read. Otherwise, two projects with one port would share a server and its data directory.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::database::{self, Target};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// The prefix of the setting.
const PREFIX: &str = "svc";

/// The maximum length of a project's name: the setting has at most 63 bytes.
const MAX_NAME_LENGTH: usize = 24;

/// The owner of a running server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// This project.
    This,
    /// Another project, by its name.
    Other(String),
    /// A server not started by svc, or no server at all.
    Unknown,
}

/// The setting for this project's server. The folder's device and inode numbers stay the same when
/// it is moved, and differ for a copy.
pub(super) fn mark(project: &Project) -> Result<String> {
    let folder = project.create_private()?;
    let metadata =
        fs::metadata(&folder).map_err(Failure::io(format!("read {}", folder.display())))?;
    let name = project
        .root()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();

    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = name
        .chars()
        .filter(is_plain)
        .take(MAX_NAME_LENGTH)
        .collect();

    Ok(format!(
        "{PREFIX} {:x}.{:x} {name}",
        metadata.dev(),
        metadata.ino()
    ))
}

/// The owner of the server at an address.
pub(super) async fn of(project: &Project, target: &Target) -> Result<Owner> {
    if !target.is_local() {
        return Ok(Owner::Unknown);
    }

    let client = match database::open(target).await {
        Ok(client) => client,
        // The server may not have the project's database yet.
        Err(_) => match database::open(&target.with_database("postgres")).await {
            Ok(client) => client,
            Err(_) => return Ok(Owner::Unknown),
        },
    };

    let row = client
        .query_one("SELECT current_setting('cluster_name', true)", &[])
        .await;
    let set = row
        .ok()
        .and_then(|row| row.get::<_, Option<String>>(0))
        .unwrap_or_default();

    // `mark` would create the folder, which a command that only looks must not do.
    if !project.private().exists() {
        return Ok(read(&set, None));
    }

    Ok(read(&set, Some(&mark(project)?)))
}

fn read(set: &str, own: Option<&str>) -> Owner {
    let mut words = set.splitn(3, ' ');
    let (prefix, folder, name) = (words.next(), words.next(), words.next());
    match (prefix, folder, name) {
        (Some(PREFIX), Some(folder), Some(_))
            if own.and_then(|own| own.split(' ').nth(1)) == Some(folder) =>
        {
            Owner::This
        }
        (Some(PREFIX), Some(_), Some(name)) => Owner::Other(name.to_owned()),
        _ => Owner::Unknown,
    }
}

/// Refuses to use the server of another project.
pub(crate) async fn refuse_others(project: &Project, target: &Target) -> Result<()> {
    let Owner::Other(name) = of(project, target).await? else {
        return Ok(());
    };

    let port = svc_embedded::free_port().unwrap_or_default();
    Err(Failure::new(format!(
        "the server at port {} belongs to the project `{name}`, which also stops and deletes it",
        target.port()
    ))
    .hint(format!(
        "choose another port for this project in .env and docker-compose.yml, such as {port}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_belongs_to_the_project_that_started_it() {
        let own = "svc 1.2f shop";
        assert_eq!(read(own, Some(own)), Owner::This);
        assert_eq!(read("svc 1.2f renamed", Some(own)), Owner::This);
        assert_eq!(
            read("svc 1.30 desk", Some(own)),
            Owner::Other("desk".to_owned())
        );
        assert_eq!(read("svc 1.30 desk", None), Owner::Other("desk".to_owned()));

        for other in ["", "main", "svc", "17/main"] {
            assert_eq!(read(other, Some(own)), Owner::Unknown, "{other}");
        }
    }
}
