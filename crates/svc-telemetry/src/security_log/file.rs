//! The log file, which may be renamed, removed or truncated while it is written.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// A file that lines are appended to.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    open: Option<File>,
}

impl LogFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the file, so that it is opened again by its path.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Appends the part of `lines` that is not `written` yet, and adds its length to `written`. If
    /// the path now refers to another file, the line that was started in the previous one is
    /// written again as a whole.
    ///
    /// # Errors
    /// Returns the error that stopped writing; `written` excludes everything that was not written.
    pub(super) fn append(&mut self, lines: &[u8], written: &mut usize) -> io::Result<()> {
        if self
            .open
            .as_ref()
            .is_some_and(|file| !is_at(file, &self.path))
        {
            self.open = None;
        }

        let mut file = match &self.open {
            Some(file) => file,
            None => {
                *written = memchr::memrchr(b'\n', &lines[..*written]).map_or(0, |end| end + 1);
                self.open.insert(open(&self.path)?)
            }
        };

        while *written < lines.len() {
            match file.write(&lines[*written..]) {
                // A file that accepts no bytes would keep the loop running forever.
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => *written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }

        Ok(())
    }
}

/// Opens the file for appending. A line that is incomplete, because a process was killed or the
/// disk was full, is terminated, so that the next event starts a new line.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);

    // Other users of the machine must not read the names and addresses in the events.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
    let mut file = options.open(path)?;

    // The path may be a pipe or a terminal, which has no end to read.
    if file.metadata()?.is_file() && ends_in_a_line(path) {
        file.write_all(b"\n")?;
    }

    Ok(file)
}

/// Whether a file's last line is incomplete. A file that cannot be read counts as complete.
fn ends_in_a_line(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last[0])
    };
    last().is_ok_and(|last| last != b'\n')
}

/// Whether the path still refers to the file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => is_same(&open, &there),
        // A removed file is not the one at the path either, so it is created again.
        _ => false,
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On this platform, an open file cannot be renamed.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
