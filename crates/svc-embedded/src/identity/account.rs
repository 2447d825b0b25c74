//! Unprivileged users that the server can run as.

use std::fs;

/// A user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// Finds a user in `/etc/passwd`, which is sufficient for the users `postgres` and `nobody`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string("/etc/passwd").ok()?, name)
    }

    fn parse(passwd: &str, name: &str) -> Option<Self> {
        let line = passwd
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line
            .split(':')
            .skip(2)
            .map(|number| number.parse::<i64>().ok());

        // macOS writes `nobody` as -2.
        let mut next = || {
            numbers
                .next()?
                .and_then(|number| u32::try_from(number & 0xffff_ffff).ok())
        };

        let (uid, gid) = (next()?, next()?);

        // An account with the id 0 is root under another name, and PostgreSQL refuses it too.
        (uid != 0).then(|| Self {
            name: name.to_owned(),
            uid,
            gid,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnobody2:x:7:7::/:\nnobody:*:-2:-2::/:\npostgres:x:101:104::/:\n";

    #[test]
    fn finds_whole_names_only() {
        let postgres = Account {
            name: "postgres".into(),
            uid: 101,
            gid: 104,
        };

        assert_eq!(Account::parse(PASSWD, "postgres"), Some(postgres));
        assert_eq!(
            Account::parse(PASSWD, "nobody").map(|nobody| nobody.uid),
            Some(4_294_967_294)
        );

        assert_eq!(Account::parse(PASSWD, "post"), None);
    }

    #[test]
    fn root_is_never_chosen() {
        assert_eq!(Account::parse(PASSWD, "root"), None);
    }
}
