//! Deletes the files of killed processes, at the next start.

use std::fs::{self, DirEntry, OpenOptions};
use std::time::Duration;

use super::UploadConfig;

/// The prefix of the name of each temporary file.
pub const PREFIX: &str = "svc-upload-";
/// The age below which a file may be new and not locked yet.
const YOUNG: Duration = Duration::from_secs(1);

/// Deletes the temporary files of processes that have ended. The files of running processes are
/// locked.
pub fn sweep(config: &UploadConfig) {
    let dir = config.dir.clone().unwrap_or_else(std::env::temp_dir);
    let entries = fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let swept = entries
        .filter(is_left_behind)
        .filter(|entry| fs::remove_file(entry.path()).is_ok())
        .count();

    if swept > 0 {
        tracing::info!(files = swept, dir = %dir.display(), "deleted uploaded files of a process that was killed");
    }
}

/// Whether a file is an upload that no process holds.
fn is_left_behind(entry: &DirEntry) -> bool {
    if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
        return false;
    }

    let Ok(about) = entry.metadata() else {
        return false;
    };

    let age = about
        .modified()
        .ok()
        .and_then(|modified| modified.elapsed().ok());
    if !about.is_file() || age.is_none_or(|age| age < YOUNG) {
        return false;
    }

    // A file of another user cannot be opened, and is not ours to delete. A lock ends with its
    // process, so a lock that can be taken shows that the file is left behind.
    OpenOptions::new()
        .write(true)
        .open(entry.path())
        .is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_files_that_no_process_holds_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60))
                .unwrap();
            file
        };

        drop((make("svc-upload-left"), make("another-file")));
        let held = make("svc-upload-held");
        held.try_lock().unwrap();
        drop(File::create(dir.path().join("svc-upload-young")).unwrap());
        sweep(&UploadConfig {
            dir: Some(dir.path().to_owned()),
            ..UploadConfig::default()
        });
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();

        assert_eq!(
            names,
            ["another-file", "svc-upload-held", "svc-upload-young"]
        );
    }
}
