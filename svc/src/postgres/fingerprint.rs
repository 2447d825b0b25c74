//! Fingerprints of what is read of the catalogue, and of what decides what a read gives.

use super::driver::{DedicatedConnection, DriverError};
use super::functions::{self, FunctionSpec};
use super::identifier::quoted;
use super::{Param, Statement};

const FINGERPRINT: &str = include_str!("fingerprint.sql");
const RULES: &str = include_str!("rules.sql");

/// The fingerprints of a database, and the snapshot in which they were taken. Each is `None` where nothing at all has
/// changed since the last look.
pub(super) struct Fingerprints {
    pub(super) snapshot: String,
    /// That of what is read of the catalogue.
    pub(super) catalogue: Option<String>,
    /// That of what may set something for the session.
    pub(super) effects: Option<String>,
    /// That of all that decides which rows a read gives besides the rows themselves, where somebody follows it.
    pub(super) rules: Option<String>,
}

/// Takes the fingerprints, unless nothing has changed since the snapshot `known_at`.
pub(super) async fn fingerprints(
    connection: &mut DedicatedConnection,
    known_at: &str,
    sources: &[String],
    specs: &[FunctionSpec],
    follows_rules: bool,
) -> Result<Fingerprints, DriverError> {
    let (_, functions) = functions::split(&functions::names(specs));
    let bound = vec![Param::Text(known_at.to_owned()), Param::Texts(quoted(sources)), functions::texts(functions)];
    let rules = if follows_rules { RULES } else { ", NULL::text" };
    let rows = connection.rows(&Statement::new(format!("{FINGERPRINT}{rules} FROM now"), bound)).await?;
    let (snapshot, catalogue, effects, rules) = rows.into_iter().next().ok_or(DriverError::Closed)?;
    Ok(Fingerprints { snapshot, catalogue, effects, rules })
}
