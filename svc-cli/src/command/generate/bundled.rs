//! `svc generate accounts`, `api-keys`, `notify` and others: the SQL required by parts of svc, as
//! migrations.

use std::fmt::Write as _;

use postgres_protocol::escape::{escape_identifier, escape_literal};

use super::is_plain;
use crate::command::migrate::{self, Kind};
use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::terminal;

/// A part of svc that requires SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Native accounts.
    Accounts,
    /// API keys.
    ApiKeys,
    /// Notifications of changed rows.
    Notify,
    /// The error tracker.
    ErrorTracker,
    /// Statistics of statements.
    QueryStats,
}

impl Part {
    /// The name of the migration.
    fn name(self) -> &'static str {
        match self {
            Self::Accounts => "svc_accounts",
            Self::ApiKeys => "svc_api_keys",
            Self::Notify => "svc_notify",
            Self::ErrorTracker => "svc_error_tracker",
            Self::QueryStats => "svc_query_stats",
        }
    }

    /// The SQL of this version; links in `templates/sql` point to the files in the crate.
    fn sql(self) -> &'static str {
        match self {
            Self::Accounts => include_str!("../../../templates/sql/accounts.sql"),
            Self::ApiKeys => include_str!("../../../templates/sql/api_keys.sql"),
            Self::Notify => include_str!("../../../templates/sql/notify.sql"),
            Self::ErrorTracker => include_str!("../../../templates/sql/error_tracker.sql"),
            Self::QueryStats => include_str!("../../../templates/sql/query_stats.sql"),
        }
    }

    /// The schema whose function `allow` grants a role the use of the part.
    fn schema(self) -> Option<&'static str> {
        match self {
            Self::Accounts => Some("svc_auth"),
            Self::ErrorTracker => Some("svc_errors"),
            Self::ApiKeys | Self::Notify | Self::QueryStats => None,
        }
    }
}

/// Writes the migration of a part, and grants the service's role the right to use it.
pub(super) fn part(project: &Project, part: Part, role: Option<&str>) -> Result<()> {
    let mut text = part.sql().to_owned();
    if let (Some(schema), Some(role)) = (part.schema(), role) {
        // `escape_literal` puts a space before a literal with escapes: ` E'…'`.
        let _ = write!(
            text,
            "\nSELECT {schema}.allow({});\n",
            escape_literal(role).trim_start()
        );
    }

    let path = create(project, part, &text)?;
    terminal::print(&format!("{path}\n"))?;

    if part.schema().is_some() && role.is_none() {
        terminal::hint("if the service does not connect as the owner, name its role: --role NAME");
    }

    terminal::hint("apply it: svc migrate up");

    Ok(())
}

/// Writes the migration with triggers on tables, and the trigger function unless it exists.
pub(super) fn notify(project: &Project, tables: &[String]) -> Result<()> {
    let has_function = holder(project, Part::Notify.sql())?.is_some();
    if has_function && tables.is_empty() {
        return part(project, Part::Notify, None);
    }

    let mut text = if has_function {
        String::new()
    } else {
        Part::Notify.sql().to_owned()
    };

    for table in tables {
        text += &trigger(table)?;
    }

    let path = create(project, Part::Notify, &text)?;
    terminal::print(&format!("{path}\n"))?;
    terminal::hint("apply it: svc migrate up");

    Ok(())
}

/// The trigger on a table. For `tb_post`, its channel is `post_changed`.
fn trigger(table: &str) -> Result<String> {
    if !table.split('.').all(is_plain) || table.matches('.').count() > 1 {
        let failure = Failure::usage(format!("`{table}` cannot be the name of a table"));
        return Err(failure.hint("name it as it is in the database: --table tb_post"));
    }

    let name = table.rsplit('.').next().unwrap_or(table);
    let channel = format!("{}_changed", name.strip_prefix("tb_").unwrap_or(name));
    let path: Vec<String> = table.split('.').map(escape_identifier).collect();

    Ok(format!(
        "\n-- Further arguments are columns that payloads contain in addition to `id` and `op`, such as 'author_id'.\n\
         CREATE OR REPLACE TRIGGER {channel} AFTER INSERT OR UPDATE OR DELETE ON {}\n    \
         FOR EACH ROW EXECUTE FUNCTION svc_notify('{channel}');\n",
        path.join(".")
    ))
}

/// Creates the migration, unless another one has the text already.
fn create(project: &Project, part: Part, text: &str) -> Result<String> {
    if let Some(path) = holder(project, text)? {
        return Err(Failure::new(format!("{path} already contains this SQL"))
            .hint("apply it: svc migrate up"));
    }
    migrate::create(project, part.name(), text)
}

/// The migration that contains a text.
fn holder(project: &Project, text: &str) -> Result<Option<String>> {
    let files = migrate::read_files(project, Kind::Migration)?;
    Ok(files
        .into_iter()
        .find(|file| file.text.contains(text.trim()))
        .map(|file| file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_notifies_the_channel_of_its_table() {
        let text = trigger("app.tb_post").unwrap();
        assert!(
            text.contains(
                "TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE ON \"app\".\"tb_post\""
            ),
            "{text}"
        );

        assert!(text.contains("svc_notify('post_changed')"), "{text}");

        assert!(trigger("a b").is_err());
    }
}
