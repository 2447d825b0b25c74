//! The lock that lets one program at a time create or start a cluster.

use std::{
    fs::{File, TryLockError},
    path::Path,
    sync::Arc,
    time::Duration,
};

use crate::{Error, Result, wait::Wait};

/// Maximum wait. It exceeds any first start, so by then the other program hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// An acquired lock. The system releases it when the last clone is dropped or the program dies.
#[derive(Debug, Clone)]
pub(crate) struct Lock {
    _file: Arc<File>,
}

impl Lock {
    /// Waits for the lock.
    pub(crate) async fn acquire(path: &Path) -> Result<Self> {
        let mut wait = Wait::new(PATIENCE);
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }

            wait.pause(|| {
                format!(
                    "another program that starts this database, and holds {}",
                    path.display()
                )
            })
            .await
            .map_err(|_| Error::Locked {
                path: path.to_path_buf(),
                waited: PATIENCE,
            })?;
        }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>> {
        // The standard library opens files close-on-exec, so the server does not inherit the lock.
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(Error::io("open", path))?;

        match file.try_lock() {
            Ok(()) => Ok(Some(Self {
                _file: Arc::new(file),
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
        }
    }
}
