//! Channels that nothing in the database notifies.

use crate::driver::{DedicatedConnection, DriverError};
use crate::{Param, Statement};

/// The channels that are neither an argument of a trigger nor named by a function: in quotes, or
/// behind `NOTIFY`. No channel counts as silent if a trigger function computes its channel, such as
/// from the name of its table, because it may notify any channel.
///
/// Each argument in `tgargs` ends with a zero byte. A function of the form `BEGIN ATOMIC` has no
/// source, but a definition. In dollar quotes, backslashes are literal with either value of
/// `standard_conforming_strings`.
const SILENT: &str = "\
    WITH texts AS MATERIALIZED ( \
        SELECT p.prorettype = 'trigger'::regtype AS is_trigger, \
            lower(CASE WHEN p.prosrc = '' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END COLLATE \"C\") AS text \
        FROM pg_proc p WHERE p.oid >= 16384 AND p.prokind IN ('f', 'p')) \
    SELECT c.name FROM unnest($1::text[]) AS c(name) \
    WHERE NOT EXISTS (SELECT FROM texts t WHERE t.is_trigger AND t.text ~ \
        $$pg_notify\\s*\\(\\s*((?!tg_argv)[^'\\s]|'[^']*'\\s*\\|\\|)|notify\\s+%$$) \
    AND NOT EXISTS (SELECT FROM pg_trigger t WHERE NOT t.tgisinternal AND position( \
        decode('00', 'hex') || convert_to(c.name, getdatabaseencoding()) || decode('00', 'hex') \
        IN decode('00', 'hex') || t.tgargs) > 0) \
    AND NOT EXISTS (SELECT FROM texts t \
        WHERE strpos(t.text, lower(c.name COLLATE \"C\")) > 0 AND t.text ~ ($$('|notify\\s+\"?)$$ \
            || regexp_replace(lower(c.name COLLATE \"C\"), $$([][^$.*+?(){}|\\\\])$$, $$\\\\\\1$$, 'g') || $$(?!\\w)$$)) \
    ORDER BY 1";

/// Returns the channels that nothing in the database notifies, as far as its triggers and functions
/// show it.
pub(crate) async fn silent_channels(
    connection: &mut DedicatedConnection,
    channels: &[String],
) -> Result<Vec<String>, DriverError> {
    if channels.is_empty() {
        return Ok(Vec::new());
    }

    let statement = Statement::new(SILENT, vec![Param::Texts(channels.to_vec())]);
    match connection.rows::<(String,)>(&statement).await {
        Ok(rows) => Ok(rows.into_iter().map(|(channel,)| channel).collect()),
        // The channels serve a hint only, so the database is used without them.
        Err(error) if error.leaves_connection_usable() => {
            tracing::debug!(
                error = %error.with_sources(),
                "the notified channels could not be read, so hints about them are missing"
            );
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
