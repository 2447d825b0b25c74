//! Versions of software.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::ScalarError;
use super::form::text_form;

/// A version, as [Semantic Versioning 2.0.0](https://semver.org/spec/v2.0.0.html) writes it. The
/// text is canonical as it is; versions compare by precedence.
///
/// ```
/// use svc::scalar::SemanticVersion;
///
/// let version: SemanticVersion = "1.2.3-rc.1+build".parse()?;
/// assert_eq!((version.major(), version.pre(), version.build()), (1, "rc.1", "build"));
/// assert!(version < "1.2.3".parse()?);
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SemanticVersion(semver::Version);

impl SemanticVersion {
    /// Returns the major version, which changes that break callers raise.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// Returns the minor version, which additions raise.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// Returns the patch version, which repairs raise.
    #[must_use]
    pub fn patch(&self) -> u64 {
        self.0.patch
    }

    /// Returns the part after the hyphen; empty in a release.
    #[must_use]
    pub fn pre(&self) -> &str {
        self.0.pre.as_str()
    }

    /// Returns the part after the plus; empty without one.
    #[must_use]
    pub fn build(&self) -> &str {
        self.0.build.as_str()
    }
}

impl FromStr for SemanticVersion {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let found = semver::Version::parse(text).map(Self);
        found.map_err(|error| {
            ScalarError::new(
                format!("expected a semantic version (SemVer 2.0.0: {error})"),
                text,
            )
        })
    }
}

impl Display for SemanticVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_form!(
    SemanticVersion,
    description = "A semantic version such as `1.2.3-rc.1`.",
    specified_by = "https://semver.org/spec/v2.0.0.html"
);
