//! The state of the database as read, and its use from then on.

use std::sync::Arc;

use super::Look;
use crate::RowsCall;
use crate::catalog::channels::silent_channels;
use crate::catalog::functions::{self, FunctionSpec, Functions};
use crate::catalog::{Catalog, fingerprints};
use crate::database::{CheckError, Database, Described};
use crate::driver::{DedicatedConnection, DriverError};

/// The state of the database as read.
pub struct Loaded {
    look: Look,
    catalog: Catalog,
    functions: Functions,
    described: Described,
}

impl Loaded {
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }
}

impl Database {
    /// Reads the catalog data on views and functions.
    ///
    /// # Errors
    /// [`CheckError::Unbound`] when policies do not bind, and the database therefore must not be
    /// used.
    pub async fn load(&self, connection: &mut DedicatedConnection) -> Result<Loaded, CheckError> {
        let specs = self.known_functions();

        // First, so that the next check finds changes made meanwhile.
        let found =
            fingerprints(connection, "", &self.sources, &specs, self.follows_rules()).await?;
        self.follow_effects(connection, found.effects).await?;
        let verdict = self
            .row_security
            .verdict(connection, &self.sources, &self.called)
            .await?;
        self.row_security
            .report(connection, &self.sources, &verdict)
            .await?;
        let verdict = self.row_security.accept(verdict)?;
        let (told, with_facts) = (self.driver.views_changed(), self.tells_reason);
        let (sources, hides_rows) = (&self.sources, self.hides_rows);
        let mut catalog = Catalog::load(connection, sources, told, with_facts, hides_rows).await?;
        if with_facts {
            catalog.silent_channels = silent_channels(connection, &self.channels).await?;
        }

        let functions = Self::load_functions(connection, &specs, &catalog).await?;

        catalog.keep_functions(&functions);
        let [fingerprint, rules] = [found.catalog, found.rules].map(Option::unwrap_or_default);
        let look = Look {
            fingerprint,
            rules,
            verdict,
        };

        Ok(Loaded {
            look,
            catalog,
            functions,
            described: self.load_descriptions(connection).await?,
        })
    }

    async fn load_functions(
        connection: &mut DedicatedConnection,
        specs: &[FunctionSpec],
        views: &Catalog,
    ) -> Result<Functions, DriverError> {
        let rows = if specs.is_empty() {
            Vec::new()
        } else {
            connection.rows(&functions::lookup(specs)).await?
        };
        Ok(functions::choose(specs, rows, |name| views.source(name)))
    }

    async fn load_descriptions(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<Described, DriverError> {
        let mut described = Described::default();
        for statement in &self.statements {
            let rows = RowsCall::of_sql(statement, Vec::new());
            let columns = match connection
                .describe(&format!("SELECT t.* FROM {} AS t", rows.sql))
                .await
            {
                Ok(columns) => Ok(columns),
                Err(error) if error.leaves_connection_usable() => Err(error.message()),
                Err(error) => return Err(error),
            };
            described.insert(statement, columns);
        }

        Ok(described)
    }

    /// Uses the loaded state from now on. If it differs from the previous state, the connections
    /// are closed, as their statements, settings and types are out of date. The same applies when
    /// policies bind again: PostgreSQL keeps the plans that it made for a role that bypassed them.
    pub(crate) fn adopt(&self, loaded: Loaded) {
        let Loaded {
            look,
            catalog,
            functions,
            described,
        } = loaded;

        *self.descriptions() = described;
        let known = self.catalog.load_full();
        let same_catalog = known.as_ref().is_some_and(|known| known.is_same(&catalog));

        // Data cached with the catalog stays valid until the catalog is replaced.
        if !same_catalog {
            self.catalog.store(Some(Arc::new(catalog)));
        }

        let same_functions = self.adopt_functions(functions);
        let same_policies = self.changes.adopt(look);
        let is_same = same_catalog && same_functions && same_policies;

        if !is_same && known.is_some() {
            tracing::info!(
                "views, functions or policies of the schema have changed in the database"
            );
            self.changes.last.is_now();
            self.driver.retire_connections();

            // Last, so that subscribers do not read on connections with outdated plans.
            self.changes.told.send_replace(());
        }

        if !is_same {
            self.end_schema_version();
        }
    }

    /// Begins the version of the adopted state, unless the database has changed since it was read.
    /// Reading takes a while, and what is read meanwhile may be of another state, also if that is
    /// undone before the next check. From here on, reads use connections opened after the change.
    pub(crate) async fn confirm(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<(), DriverError> {
        let Some(version) = &self.schema_version else {
            return Ok(());
        };

        let specs = self.known_functions();
        let found = fingerprints(connection, "", &self.sources, &specs, true).await?;
        match found.rules {
            Some(rules) if self.changes.has_rules(&rules) => version.note(&rules),
            _ => self.may_have_changed(),
        }

        Ok(())
    }

    /// Whether all functions are unchanged. If so, they keep their statements.
    fn adopt_functions(&self, found: Functions) -> bool {
        let mut known = self.functions();
        let same = known
            .iter()
            .all(|(spec, known)| match (known, found.get(spec)) {
                (Ok(known), Some(Ok(found))) => known.is_same(found),
                (Err(known), Some(Err(found))) => known == found,
                _ => false,
            });

        if !same || known.len() != found.len() {
            *known = found;
        }

        same
    }
}
