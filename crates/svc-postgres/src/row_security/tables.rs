//! Tables whose policies do not bind, seen through the views that read them.

use super::finding::Finding;

/// A table that is read past its policies.
pub(super) struct Read {
    /// The view or table that is queried.
    pub(super) root: String,
    pub(super) table: String,
    /// The role that the table is read as.
    pub(super) reader: String,
    /// The view whose owner that role is; `None` if it is the service's role.
    pub(super) switch: Option<String>,
    /// The materialized view that contains the rows.
    pub(super) stored: Option<String>,
}

impl Read {
    /// The finding; `has_invoker` if views can read as their caller.
    pub(super) fn finding(&self, problem: &str, has_invoker: bool) -> Finding {
        let Self {
            root,
            table,
            reader,
            switch,
            stored,
        } = self;

        let reads = if root == table {
            format!("`{table}` is read")
        } else {
            format!("`{root}` reads `{table}`")
        };

        let who = match switch {
            Some(view) => format!("`{reader}`, who owns the view `{view}`"),
            None => format!("`{reader}`, as whom the service connects"),
        };

        let (what, fix) = match problem {
            "stored" => (
                format!(
                    "{reads} from the materialized view `{}`, to which no policy applies",
                    stored.as_deref().unwrap_or_default()
                ),
                "read an ordinary view instead".to_owned(),
            ),
            "disabled" => (
                format!("{reads}, whose policies are not enabled"),
                format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
            ),
            "parts" => (
                format!(
                    "{reads}, and the policies of its partitions are not asked when they are read through it"
                ),
                format!(
                    "give {table} the policies, and ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
                ),
            ),
            why => (
                format!("{reads} as {who}, {}", passes(why)),
                fix(why, table, reader, switch.as_deref(), has_invoker),
            ),
        };

        Finding { what, fix }
    }
}

fn passes(why: &str) -> &'static str {
    match why {
        "superuser" => "a superuser, who passes every policy",
        "bypass" => "who has BYPASSRLS and passes every policy",
        _ => "who owns the table and so passes its policies",
    }
}

fn fix(why: &str, table: &str, reader: &str, switch: Option<&str>, has_invoker: bool) -> String {
    match (switch, why) {
        (Some(view), _) if has_invoker => format!("ALTER VIEW {view} SET (security_invoker = true)"),
        (_, "owner") => format!("ALTER TABLE {table} FORCE ROW LEVEL SECURITY, or let another role own it"),
        (Some(view), _) => format!("ALTER VIEW {view} OWNER TO a role that policies bind"),
        (None, "bypass") => format!("ALTER ROLE {reader} NOBYPASSRLS, or name another role in the database URL"),
        (None, _) => "name an ordinary role in the database URL, or `.role(\"app\")` in the options of an embedded \
                      database"
            .to_owned(),
    }
}
