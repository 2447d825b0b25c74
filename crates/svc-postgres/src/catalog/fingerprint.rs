//! Fingerprints of the catalog data, and of everything that decides the rows of reads.

use super::functions::{self, FunctionSpec};
use crate::driver::{DedicatedConnection, DriverError};
use crate::statement::quoted;
use crate::{Param, Statement};

const FINGERPRINT: &str = include_str!("fingerprint.sql");
const RULES: &str = include_str!("rules.sql");

/// The fingerprints of a database, and the snapshot they were taken in. Each is `None` if nothing
/// at all has changed since the last check.
pub(crate) struct Fingerprints {
    pub(crate) snapshot: String,
    /// Of the catalog data.
    pub(crate) catalog: Option<String>,
    /// Of the functions and expressions that may alter the session.
    pub(crate) effects: Option<String>,
    /// Of everything but the rows themselves that decides the rows of reads, if it is tracked.
    pub(crate) rules: Option<String>,
}

/// Computes the fingerprints, unless nothing has changed since the snapshot `known_at`.
pub(crate) async fn fingerprints(
    connection: &mut DedicatedConnection,
    known_at: &str,
    sources: &[String],
    specs: &[FunctionSpec],
    follows_rules: bool,
) -> Result<Fingerprints, DriverError> {
    let (_, functions) = functions::split(&functions::names(specs));
    let bound = vec![
        Param::Text(known_at.to_owned()),
        Param::Texts(quoted(sources)),
        functions::texts(functions),
    ];

    let rules = if follows_rules { RULES } else { ", NULL::text" };
    let rows = connection
        .rows(&Statement::new(
            format!("{FINGERPRINT}{rules} FROM now"),
            bound,
        ))
        .await?;

    let (snapshot, catalog, effects, rules) = rows.into_iter().next().ok_or(DriverError::Closed)?;

    Ok(Fingerprints {
        snapshot,
        catalog,
        effects,
        rules,
    })
}
