//! The address of a new project's database.

use super::Name;
use crate::database::Target;

/// The port where no free one is found.
const USUAL_PORT: u16 = 5432;

/// The databases of a project: the one that was given, and its own.
#[derive(Debug)]
pub(crate) struct Address {
    /// The URL for `.env`.
    pub(super) url: String,
    /// The URL of the project's own database, which every developer has.
    pub(super) own: String,
    /// The port of that one.
    pub(super) port: u16,
}

impl Address {
    /// The given database, or one at a port of the project's own: two projects that share a port share a server, and
    /// with it whatever happens to its data.
    pub(super) fn choose(name: &Name, given: Option<String>) -> Self {
        let here = given.as_deref().and_then(|url| Target::parse(url).ok()).filter(Target::is_local);
        let port = here.map(|target| target.port()).or_else(svc_embedded::free_port).unwrap_or(USUAL_PORT);
        let own = format!("postgresql://svc:svc@localhost:{port}/{}", name.database);
        Self { url: given.unwrap_or_else(|| own.clone()), own, port }
    }
}
