//! A user namespace in which root has another number.
//!
//! Outside, the process is still root, so it can use root's own folders; inside, `geteuid` says
//! 1000, so PostgreSQL is content. <https://man7.org/linux/man-pages/man7/user_namespaces.7.html>

use std::{ffi::CStr, io};

use rustix::{
    fs::{Mode, OFlags, open},
    process::{getegid, geteuid},
    thread::{UnshareFlags, unshare_unsafe},
};

/// Any number but 0.
const INNER: u32 = 1000;

/// The lines for `/proc/self/uid_map` and `gid_map`.
#[derive(Debug)]
pub(super) struct Maps {
    uid: String,
    gid: String,
}

impl Maps {
    /// Maps the caller's user and group. Made before the fork, where allocating is allowed.
    pub(super) fn of_caller() -> Self {
        let map = |outer: u32| format!("{INNER} {outer} 1\n");
        Self { uid: map(geteuid().as_raw()), gid: map(getegid().as_raw()) }
    }
}

/// Moves the calling process, which has to be single-threaded, into a namespace of its own.
#[expect(unsafe_code, reason = "`unshare` can break memory safety with flags other than this one")]
pub(super) fn enter(maps: &Maps) -> io::Result<()> {
    // SAFETY: a new user namespace leaves memory and file descriptors as they are.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER)? };
    write(c"/proc/self/setgroups", "deny")?;
    write(c"/proc/self/gid_map", &maps.gid)?;
    write(c"/proc/self/uid_map", &maps.uid)
}

fn write(path: &CStr, text: &str) -> io::Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}
