//! Disks that are full.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use svc_tests::eventually;

use super::files::{PATIENCE, events, log_in, numbered, numbers};

/// A small file system in memory; it goes when the test ends.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one; that takes root.
    fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mounting = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(folder.path())
            .output()
            .expect("the program mount");
        let why = String::from_utf8_lossy(&mounting.stderr);
        assert!(
            mounting.status.success(),
            "this test mounts a small disk, which takes root: {why}"
        );
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The log may still have its file open.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn events_are_kept_until_a_full_disk_has_space() {
    let disk = SmallDisk::mount();
    let (path, ballast) = (
        disk.path().join("security.log"),
        disk.path().join("ballast"),
    );
    fs::write(&ballast, vec![0; 40_000]).unwrap();
    let log = log_in(&path);
    (0..500).for_each(|number| log.log_event(numbered(number)));
    let full = async || {
        log.status()
            .failure
            .ok_or_else(|| "not full yet".to_owned())
    };
    assert!(eventually(full).await.contains("No space left"));
    // Requests go on meanwhile.
    let start = Instant::now();
    (500..510).for_each(|number| log.log_event(numbered(number)));
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    fs::remove_file(&ballast).unwrap();
    // What does not fit on the whole disk goes to the next file, as in a rotation.
    let moved = tempfile::tempdir().unwrap();
    let old = moved.path().join("old.log");
    eventually(async || match log.flush(Duration::from_secs(3)) {
        true => Ok(()),
        false if old.exists() || log.status().failure.is_none() => {
            Err("not written yet".to_owned())
        }
        false => {
            fs::copy(&path, &old).unwrap();
            fs::remove_file(&path).unwrap();
            Err("the disk is full again".to_owned())
        }
    })
    .await;
    let mut found = if old.exists() {
        numbers(&whole_lines(&old))
    } else {
        Vec::new()
    };
    found.extend(numbers(&events(&path)));
    found.dedup();
    assert_eq!(found, (0..510).collect::<Vec<_>>());
}

/// The events of a file that may end in the middle of a line.
fn whole_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// `/dev/full` is a disk without any room. What waits has a bound, and what is lost is counted.
#[test]
fn lost_events_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("security.log");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let log = log_in(&path);
    let text = "x".repeat(450);
    for number in 0..20_000 {
        log.log_event(numbered(number).reason(text.as_str()));
    }
    let status = log.status();
    assert!(
        status.lost > 0 && status.waiting <= (4 << 20) * 2,
        "{status:?}"
    );
    fs::remove_file(&path).unwrap();
    assert!(log.flush(PATIENCE));
    let events = events(&path);
    let kept = numbers(&events);
    assert!(
        kept.is_sorted() && kept.len() as u64 + status.lost == 20_000,
        "{} and {status:?}",
        kept.len()
    );
    let told = events
        .iter()
        .filter(|event| event["event_type"] == "system.events_lost");
    let told: u64 = told
        .map(|event| event["metadata"]["events"].as_u64().unwrap())
        .sum();
    assert_eq!(told, status.lost);
}
