//! Processes, identified by their IDs together with their start times, as IDs are reused.

use std::fs;

/// The text that identifies a process in a file. The start time is missing if the system does not
/// report it.
pub(crate) fn line(process: u32) -> String {
    format!("{process} {}\n", moment(process).unwrap_or_default())
}

/// Returns the process and the start time in such a text; the start time is empty if it is missing.
pub(crate) fn read(line: &str) -> Option<(u32, &str)> {
    let line = line.trim();
    let (process, moment) = line.split_once(' ').unwrap_or((line, ""));
    Some((process.parse().ok()?, moment))
}

/// Whether a process is the one that started at this time.
pub(crate) fn is_same(process: u32, noted: &str) -> bool {
    moment(process).is_some_and(|moment| moment == noted)
}

/// The start time of a process: the boot, and the ticks since then. None if the system does not
/// report it, or if the process is a zombie.
fn moment(process: u32) -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may contain any characters.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return None;
    }

    // proc(5): the start time is field 22 of `stat`, and the fields here begin with the third.
    Some(format!("{}-{}", boot.trim(), fields.get(19)?))
}
