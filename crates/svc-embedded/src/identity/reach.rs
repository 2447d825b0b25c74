//! Access of a user to folders, and changes of their owner.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::{MetadataExt, lchown},
    path::Path,
};

/// Returns `true` if an unprivileged user can enter a folder, given the permissions of its
/// ancestors.
pub(super) fn can_enter(uid: u32, gid: u32, folder: &Path) -> bool {
    // A relative path or a link would hide some of the ancestors.
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    folder.ancestors().all(|step| {
        fs::metadata(step)
            .is_ok_and(|metadata| metadata.mode() & search_bit(uid, gid, &metadata) != 0)
    })
}

/// Returns the permission bit that applies. The kernel checks only the first match of the three.
fn search_bit(uid: u32, gid: u32, metadata: &Metadata) -> u32 {
    if metadata.uid() == uid {
        0o100
    } else if metadata.gid() == gid {
        0o010
    } else {
        0o001
    }
}

/// Changes the owner of a folder and its contents, without following links.
pub(super) fn chown_all(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
    lchown(path, Some(uid), Some(gid))?;
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            chown_all(&entry?.path(), uid, gid)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};

    use super::*;

    const STRANGER: u32 = 54_321;

    #[test]
    fn a_closed_folder_on_the_way_counts() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(outer.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(!can_enter(STRANGER, STRANGER, &inner));
        fs::set_permissions(outer.path(), Permissions::from_mode(0o711)).unwrap();
        assert!(can_enter(STRANGER, STRANGER, &inner));
    }

    #[test]
    fn the_owner_needs_the_owners_permission() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o011)).unwrap();
        assert!(!can_enter(metadata.uid(), metadata.gid(), folder.path()));
        assert!(can_enter(STRANGER, STRANGER, folder.path()));
    }

    #[test]
    fn a_missing_folder_is_out_of_reach() {
        assert!(!can_enter(0, 0, Path::new("/nonexistent/folder")));
    }
}
