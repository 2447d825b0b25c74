//! Passwords from a file in libpq's format: `host:port:database:user:password`.

use std::path::Path;

use super::HostConfig;

/// The password for a host, from the first matching line.
pub(super) fn password(
    text: &str,
    host: &HostConfig,
    database: &str,
    user: &str,
) -> Option<String> {
    let mut names: Vec<&str> = host.name.iter().map(String::as_str).collect();
    if names.is_empty() || host.folder().is_some() {
        // As in libpq, lines for `localhost` also apply to sockets.
        names.push("localhost");
    }

    let address = host.address.map(|address| address.to_string());

    // As in libpq, the address is compared only if the host has no name.
    if let (None, Some(address)) = (&host.name, &address) {
        names = vec![address];
    }

    let port = host.port.to_string();

    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let [line_host, line_port, line_database, line_user, password] = fields(line)?;
            let fits = |field: &str, value: &str| field == "*" || field == value;
            let is_for = (line_host == "*" || names.contains(&line_host.as_str()))
                && fits(&line_port, &port)
                && fits(&line_database, database)
                && fits(&line_user, user);
            is_for.then_some(password)
        })
}

/// The fields of a line; `\` escapes a `:` or a `\` in a field.
fn fields(line: &str) -> Option<[String; 5]> {
    let mut fields = vec![String::new()];
    let mut chars = line.trim_end_matches('\r').chars();
    while let Some(char) = chars.next() {
        match (char, fields.len(), fields.last_mut()) {
            ('\\', _, Some(field)) => field.push(chars.next()?),
            (':', 1..5, _) => fields.push(String::new()),
            // The text after the password is reserved for later versions.
            (':', ..) => break,
            (char, _, Some(field)) => field.push(char),
            (_, _, None) => {}
        }
    }

    fields.try_into().ok()
}

/// The text of the file, unless others may read it.
pub(super) fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    if !is_private(&metadata) {
        let path = path.display();
        tracing::warn!(%path, "ignoring the password file, as other users may read it; set its permissions to 0600");
        return None;
    }

    std::fs::read_to_string(path).ok()
}

#[cfg(unix)]
fn is_private(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &std::fs::Metadata) -> bool {
    true
}
