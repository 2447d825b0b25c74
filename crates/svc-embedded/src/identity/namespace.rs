//! A user namespace where root has another user id.
//!
//! Outside, the process is still root, so it can use root's folders. Inside, `geteuid` returns
//! 1000, which PostgreSQL accepts. <https://man7.org/linux/man-pages/man7/user_namespaces.7.html>

use std::{ffi::CStr, io};

use rustix::{
    fs::{Mode, OFlags, open},
    process::{getegid, geteuid},
    thread::{UnshareFlags, unshare_unsafe},
};

/// The user and group id inside the namespace; any value except 0.
const INNER: u32 = 1000;

/// The lines for `/proc/self/uid_map` and `gid_map`.
#[derive(Debug)]
pub(super) struct Maps {
    uid: String,
    gid: String,
}

impl Maps {
    /// Maps the caller's user and group. Call it before the fork, as it allocates.
    pub(super) fn of_caller() -> Self {
        let map = |outer: u32| format!("{INNER} {outer} 1\n");
        Self {
            uid: map(geteuid().as_raw()),
            gid: map(getegid().as_raw()),
        }
    }
}

/// Moves the calling process, which must be single-threaded, into a new namespace.
#[expect(
    unsafe_code,
    reason = "`unshare` can break memory safety with flags other than this one"
)]
pub(super) fn enter(maps: &Maps) -> io::Result<()> {
    // SAFETY: a new user namespace does not affect memory or file descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER)? };

    // `unshare` takes away the capabilities outside of the namespace, and without these the kernel
    // accepts a `gid_map` only after `setgroups` is denied (user_namespaces(7)).
    write(c"/proc/self/setgroups", "deny")?;
    write(c"/proc/self/gid_map", &maps.gid)?;
    write(c"/proc/self/uid_map", &maps.uid)
}

fn write(path: &CStr, text: &str) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}
