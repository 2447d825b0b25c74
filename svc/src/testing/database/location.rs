//! URLs of databases on one server.

/// Returns the URL of another database of the same server.
pub(super) fn with_database(url: &str, database: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let host = base.find("://").map_or(0, |at| at + 3);
    let end = base[host..].find('/').map_or(base.len(), |at| host + at);

    // A `dbname` in the query would override the path.
    let pairs: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("dbname="))
        .collect();
    joined(&format!("{}/{database}", &base[..end]), &pairs)
}

/// Returns the URL of the same database with sessions that act as this role.
pub(super) fn with_role(url: &str, role: &str) -> String {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let is_options = |pair: &&str| pair.starts_with("options=");
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let (options, mut pairs): (Vec<_>, Vec<_>) = pairs.partition(is_options);

    // Of several `options` only one would count, so the role is appended to the existing one.
    let before = options
        .first()
        .map_or("options=".to_owned(), |options| format!("{options}%20"));

    // As an option and not as the user of the URL, the role needs neither a login nor a password.
    let options = format!("{before}-c%20role%3D{role}");
    pairs.push(&options);

    joined(base, &pairs)
}

fn joined(base: &str, pairs: &[&str]) -> String {
    if pairs.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", pairs.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_of_the_url_changes() {
        for (url, other) in [
            ("postgres://localhost", "postgres://localhost/t"),
            (
                "postgres://a:b%2F@host:1/shop",
                "postgres://a:b%2F@host:1/t",
            ),
            (
                "postgres://h1,h2:5/shop?sslmode=require",
                "postgres://h1,h2:5/t?sslmode=require",
            ),
            (
                "postgres:///?host=/run/pg&dbname=x&port=1",
                "postgres:///t?host=/run/pg&port=1",
            ),
        ] {
            assert_eq!(with_database(url, "t"), other);
        }
    }

    #[test]
    fn the_role_joins_other_options() {
        assert_eq!(
            with_role("postgres://h/t", "app"),
            "postgres://h/t?options=-c%20role%3Dapp"
        );
        let both = with_role("postgres://h/t?options=-c%20jit%3Doff&port=1", "app");
        assert_eq!(
            both,
            "postgres://h/t?port=1&options=-c%20jit%3Doff%20-c%20role%3Dapp"
        );
    }
}
