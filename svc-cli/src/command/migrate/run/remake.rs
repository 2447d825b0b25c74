//! Objects that block a statement: they are dropped, and recreated by the files of `db/schema`.

use postgres_protocol::escape::{escape_identifier, escape_literal};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

use super::super::failed;
use super::objects::{Id, Objects};
use super::target::{self, Kind, Target};
use crate::database::Statement;
use crate::failure::Result;

const DEPENDENTS: &str = include_str!("dependents.sql");

/// A dropped object, with the properties that its replacement has to get back.
#[derive(Debug, Clone)]
pub(super) struct Dropped {
    pub(super) id: Id,
    /// The name without its schema.
    pub(super) name: String,
    owner: Option<String>,
    options: Option<Vec<String>>,
    comment: String,
    /// Grants, with `%s` in place of the object.
    grants: Vec<String>,
    /// Whether a routine was restricted to the roles that it was granted to.
    is_closed: bool,
    /// The indexes of a materialized view.
    indexes: Vec<String>,
}

/// Objects by class and number.
type Roots = (Vec<u32>, Vec<u32>);

/// The objects that block a statement.
#[derive(Debug)]
pub(super) struct Room {
    roots: Roots,
    /// Whether the statement creates or drops the objects themselves.
    goes: bool,
    /// Whether these objects are dropped too.
    includes_roots: bool,
}

impl Room {
    /// An object to recreate, with its dependents.
    pub(super) fn of(class: u32, oid: u32) -> Self {
        Self {
            roots: (vec![class], vec![oid]),
            goes: true,
            includes_roots: true,
        }
    }
}

/// The ways to unblock a rejected statement; each is tried separately.
pub(super) async fn rooms(
    client: &Client,
    statement: &Statement<'_>,
    code: &SqlState,
    is_repeatable: bool,
) -> Result<Vec<Room>> {
    let Some(target) = target::of(statement) else {
        return Ok(Vec::new());
    };

    let is_create = statement
        .words(1)
        .first()
        .is_some_and(|word| word == "CREATE");
    let replaces = is_create && replaces(&target, code, is_repeatable);

    // For a column that a view uses, `ALTER COLUMN … TYPE` fails with `feature_not_supported`, not
    // with an error about dependents.
    let is_in_the_way = [
        &SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
        &SqlState::FEATURE_NOT_SUPPORTED,
    ]
    .contains(&code);

    if !replaces && (is_create || !is_in_the_way) {
        return Ok(Vec::new());
    }

    let found = find(client, &target).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }

    // Of several functions with the same name, only the one with these parameters blocks the
    // statement.
    let roots: Vec<Roots> = if replaces {
        found
            .into_iter()
            .map(|(class, oid)| (vec![class], vec![oid]))
            .collect()
    } else {
        vec![found.into_iter().unzip()]
    };

    let room = |roots| Room {
        roots,
        goes: replaces || target.is_drop,
        includes_roots: replaces,
    };

    Ok(roots.into_iter().map(room).collect())
}

/// Whether a statement would recreate its object if it did not exist.
fn replaces(target: &Target, code: &SqlState, is_repeatable: bool) -> bool {
    match target.kind {
        Kind::Relation => {
            // `OR REPLACE` can append columns to a view, but neither remove nor rename one. Files
            // of the schema may also omit it, because they run again.
            *code == SqlState::INVALID_TABLE_DEFINITION
                || is_repeatable
                    && [&SqlState::DUPLICATE_TABLE, &SqlState::WRONG_OBJECT_TYPE].contains(&code)
        }
        Kind::Routine => [
            &SqlState::INVALID_FUNCTION_DEFINITION,
            &SqlState::WRONG_OBJECT_TYPE,
        ]
        .contains(&code),
        Kind::Type => false,
    }
}

/// The existing objects of a target.
pub(super) async fn find(client: &Client, target: &Target) -> Result<Vec<(u32, u32)>> {
    let sql = match target.kind {
        Kind::Relation => {
            "SELECT 'pg_class'::regclass::oid, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
                 AND CASE WHEN $1::text IS NULL THEN pg_table_is_visible(c.oid) ELSE n.nspname = $1 END"
        }
        Kind::Routine => {
            "SELECT 'pg_proc'::regclass::oid, p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
             WHERE p.proname = $2 AND n.nspname !~ '^pg_' \
                 AND CASE WHEN $1::text IS NULL THEN pg_function_is_visible(p.oid) ELSE n.nspname = $1 END ORDER BY 2"
        }
        Kind::Type => {
            "SELECT 'pg_type'::regclass::oid, t.oid FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace \
             WHERE t.typname = $2 AND CASE WHEN $1::text IS NULL THEN pg_type_is_visible(t.oid) ELSE n.nspname = $1 END"
        }
    };

    let mut found = Vec::new();
    for (schema, name) in &target.names {
        let rows = client
            .query(sql, &[schema, name])
            .await
            .map_err(|error| failed(&error))?;
        found.extend(rows.iter().map(|row| (row.get(0), row.get(1))));
    }

    Ok(found)
}

/// Drops the blocking objects, the last of a chain first.
pub(super) async fn make(
    client: &Client,
    room: &Room,
) -> Result<Vec<Dropped>, tokio_postgres::Error> {
    let (classes, oids) = &room.roots;
    let rows = client
        .query(
            DEPENDENTS,
            &[classes, oids, &room.goes, &room.includes_roots],
        )
        .await?;

    // Read before the first DROP: the catalog has no name for an object after it.
    let objects = Objects::read_raw(client).await?;
    let mut dropped = Vec::new();
    for row in rows {
        let (oid, class): (u32, u32) = (row.get(0), row.get(1));
        let Some((id, object)) = objects
            .0
            .iter()
            .find(|(_, object)| (object.class, object.oid) == (class, oid))
        else {
            continue;
        };

        client
            .batch_execute(&format!("DROP {} {}", id.kind, id.identity))
            .await?;

        dropped.push(Dropped::new(id.clone(), object.name.clone(), &row));
    }

    Ok(dropped)
}

impl Dropped {
    fn new(id: Id, name: String, row: &Row) -> Self {
        Self {
            id,
            name,
            owner: row.get(2),
            options: row.get(3),
            comment: row.get(4),
            grants: row.get(5),
            is_closed: row.get(6),
            indexes: row.get(7),
        }
    }

    /// Restores the properties that no file has set on the recreated object: owner, grants, comment
    /// and, if its file is unchanged, options.
    pub(super) async fn restore(&self, client: &Client, is_as_before: bool) -> Result<()> {
        let Id { kind, identity } = &self.id;

        // The handler of a PL/pgSQL block rolls back that block alone, so the transaction remains
        // usable.
        for statement in self.statements(is_as_before) {
            // A column or a role may have been removed: there is nothing to restore for it.
            let block = format!(
                "BEGIN {statement}; EXCEPTION WHEN undefined_object OR undefined_column OR undefined_table \
                 OR duplicate_table THEN NULL; END"
            );
            let sql = format!("DO {}", dollar_quoted(&block));
            client.batch_execute(&sql).await.map_err(|error| {
                failed(&error).hint(format!(
                    "the {} {identity} cannot be restored",
                    kind.to_lowercase()
                ))
            })?;
        }

        Ok(())
    }

    /// The statements that restore them, for the body of a PL/pgSQL block.
    fn statements(&self, is_as_before: bool) -> Vec<String> {
        let Id { kind, identity } = &self.id;
        let mut statements = Vec::new();

        // These have neither an owner nor grants, and the statement of the file has all their other
        // properties.
        if ["POLICY", "TRIGGER"].contains(&kind.as_str()) {
            return statements;
        }

        let owner = self.owner.iter().map(|owner| {
            let name = escape_identifier(owner);
            format!(
                "IF current_user <> {} THEN ALTER {kind} {identity} OWNER TO {name}; END IF",
                escape_literal(owner)
            )
        });

        // A new function can be executed by PUBLIC, which would open a restricted one to all roles.
        if self.is_closed {
            statements.push(format!(
                "IF (SELECT proacl IS NULL FROM pg_proc WHERE oid = {}::regprocedure) \
                 THEN REVOKE ALL ON ROUTINE {identity} FROM PUBLIC; END IF",
                escape_literal(identity)
            ));
        }

        statements.extend(
            self.grants
                .iter()
                .map(|grant| grant.replace(" %s TO ", &format!(" {identity} TO ")))
                .map(|grant| format!("GRANT {grant}")),
        );

        // A comment in the file takes precedence over the previous one.
        if !self.comment.is_empty() {
            let (class, cast) = if kind == "ROUTINE" {
                ("pg_proc", "regprocedure")
            } else {
                ("pg_class", "regclass")
            };
            statements.push(format!(
                "IF obj_description({}::{cast}, '{class}') IS NULL THEN COMMENT ON {kind} {identity} IS {}; END IF",
                escape_literal(identity),
                escape_literal(&self.comment)
            ));
        }

        // A changed file may omit an option on purpose; an unchanged one does not contain the
        // options that an ALTER VIEW has set, such as `security_invoker`.
        if let Some(options) = self
            .options
            .as_ref()
            .filter(|_| is_as_before && kind == "VIEW")
        {
            statements.push(format!(
                "IF (SELECT reloptions IS NULL FROM pg_class WHERE oid = {}::regclass) \
                 THEN ALTER VIEW {identity} SET ({}); END IF",
                escape_literal(identity),
                options.join(", ")
            ));
        }

        if is_as_before {
            statements.extend(self.indexes.iter().cloned());
        }

        // Last, because an object with another owner can no longer be changed.
        statements.extend(owner);

        statements
    }
}

/// A text in dollar quotes, with a tag that the text does not contain: a comment or an index may
/// contain any.
fn dollar_quoted(text: &str) -> String {
    let mut tag = "$svc".to_owned();
    while text.contains(&tag) {
        tag.push('_');
    }

    format!("{tag}$ {text} {tag}$")
}

#[cfg(test)]
mod tests {
    use super::dollar_quoted;

    #[test]
    fn a_text_does_not_end_its_quotes() {
        assert_eq!(dollar_quoted("a"), "$svc$ a $svc$");
        assert_eq!(dollar_quoted("$svc$ $svc_"), "$svc__$ $svc$ $svc_ $svc__$");
    }
}
