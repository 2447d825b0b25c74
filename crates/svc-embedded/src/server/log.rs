//! The server's log.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use crate::{Error, Result};

/// Size in bytes above which the log is renamed at the next start.
const ROTATE_AT: u64 = 10 << 20;

/// Number of log lines in an error message.
const QUOTED_LINES: usize = 12;

/// The part of the log written since one start.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    begin: u64,
}

impl Log {
    /// Opens the log for a new start. The second value is the file that the server writes to.
    pub(crate) fn open(path: &Path) -> Result<(Self, File)> {
        if fs::metadata(path).is_ok_and(|metadata| metadata.len() > ROTATE_AT) {
            fs::rename(path, path.with_extension("log.1")).map_err(Error::io("rename", path))?;
        }

        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(Error::io("open", path))?;

        // Errors quote the log from here on: an earlier start may have failed for another reason.
        let begin = file.metadata().map_err(Error::io("look at", path))?.len();
        Ok((
            Self {
                path: path.to_path_buf(),
                begin,
            },
            file,
        ))
    }

    /// Returns the last lines written since this start.
    pub(crate) fn tail(&self) -> String {
        let text = self
            .read()
            .unwrap_or_else(|error| format!("(the log can't be read: {error})"));
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
    }

    fn read(&self) -> io::Result<String> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.begin))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn quotes_this_start_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("postgres.log");
        fs::write(&path, "an earlier start\n").unwrap();
        let (log, mut file) = Log::open(&path).unwrap();
        writeln!(file, "this start").unwrap();
        assert_eq!(log.tail(), "this start");
    }

    #[test]
    fn sets_a_large_log_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("postgres.log");
        File::create(&path).unwrap().set_len(ROTATE_AT + 1).unwrap();
        Log::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        assert!(folder.path().join("postgres.log.1").exists());
    }
}
