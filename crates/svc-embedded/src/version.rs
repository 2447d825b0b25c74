//! Versions of the server, in numeric order.

use std::fmt;

/// A PostgreSQL version, such as `18.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number; 0 for a beta.
    pub minor: u32,
}

impl Version {
    /// Parses the output of `postgres --version`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("(PostgreSQL)")?;

        // Text may follow the digits, as in `19beta1`.
        let mut numbers = rest.trim_start().split('.').map(leading_number);
        let major = numbers.next()??;
        let minor = numbers.next().flatten().unwrap_or(0);
        Some(Self { major, minor })
    }

    /// Returns `true` if this server can run a cluster with this `PG_VERSION`. Before version 10,
    /// the first two numbers were the major version.
    pub(crate) fn runs(self, cluster: &str) -> bool {
        let cluster = cluster.trim();
        if self.major < 10 {
            cluster == self.to_string()
        } else {
            cluster == self.major.to_string()
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, major: u32, minor: u32) {
        assert_eq!(
            Version::parse(text),
            Some(Version { major, minor }),
            "{text}"
        );
    }

    #[test]
    fn reads_what_servers_print() {
        check(
            "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n",
            15,
            18,
        );

        check("postgres (PostgreSQL) 9.6.24\n", 9, 6);
        check("postgres (PostgreSQL) 19beta1\n", 19, 0);
        check("postgres (PostgreSQL) 18devel", 18, 0);

        assert_eq!(Version::parse("command not found"), None);
    }

    #[test]
    fn orders_by_number() {
        let mut versions =
            [(18, 0), (9, 6), (15, 2), (15, 10)].map(|(major, minor)| Version { major, minor });
        versions.sort();
        assert_eq!(
            versions.map(|version| version.to_string()),
            ["9.6", "15.2", "15.10", "18.0"]
        );
    }

    #[test]
    fn knows_its_clusters() {
        assert!(
            Version {
                major: 15,
                minor: 3
            }
            .runs("15\n")
        );

        assert!(
            !Version {
                major: 15,
                minor: 3
            }
            .runs("14\n")
        );

        assert!(Version { major: 9, minor: 6 }.runs("9.6\n"));

        assert!(!Version { major: 9, minor: 6 }.runs("9.5\n"));
    }
}
