//! The difference of clocks that is tolerated.

use std::time::Duration;

/// The largest leeway for `exp`. Revocations are kept for this time after it.
pub(crate) const MAX_LEEWAY: Duration = Duration::from_secs(300);
