//! The state of the database, apart from its definitions: unpopulated views, a database that is
//! read-only, and one that does not have UTF-8.

use super::{Finding, Severity};
use crate::graphql::written_tables;
use svc_core::schema::Model;
use svc_postgres::Catalog;

/// The views that reject reads because a materialized view, they themselves or one below them, has
/// not been populated yet.
pub(super) fn unpopulated_views(catalog: &Catalog) -> Vec<Finding> {
    let unpopulated = catalog
        .unpopulated()
        .iter()
        .map(|(source, materialized)| Finding {
            severity: Severity::Fault,
            source: source.clone(),
            field: String::new(),
            cause: format!("the materialized view `{materialized}` has not been populated"),
            remedy: format!("REFRESH MATERIALIZED VIEW {materialized}"),
        });
    unpopulated.collect()
}

/// The character set of the database, if it does not have all characters.
pub(super) fn other_encoding(catalog: &Catalog) -> Option<Finding> {
    let cause = |encoding: &str| {
        if catalog.has_unchecked_texts() {
            return "the database has the character set SQL_ASCII, so it checks no texts; a stored one that is not \
                    UTF-8 is an error of its field"
                .to_owned();
        }

        format!(
            "the database has the character set {encoding}, so it refuses other characters of clients, and a stored \
             one that Unicode does not have fails its query"
        )
    };

    catalog.encoding().map(|encoding| Finding {
        severity: Severity::Hint,
        source: "server_encoding".to_owned(),
        field: String::new(),
        cause: cause(encoding),
        remedy: "make the database again with ENCODING 'UTF8'".to_owned(),
    })
}

/// The tables that mutations write, if the database is read-only. Reads are still answered there.
pub(super) fn without_changes(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    if !catalog.is_read_only() {
        return Vec::new();
    }

    let written = written_tables(model).map(|written| Finding {
        severity: Severity::Hint,
        source: written.table.to_owned(),
        field: format!("Mutation.{}", written.field.name),
        cause: "the database is read only, as a standby is, or by `default_transaction_read_only`".to_owned(),
        remedy: "name the primary in the database URL, or several hosts with `target_session_attrs=read-write`"
            .to_owned(),
    });

    written.collect()
}
