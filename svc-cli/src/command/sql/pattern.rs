//! `svc sql generate-pattern`.

use super::{GeneratePattern, Pattern, identifier, literal, path};
use crate::failure::{Failure, Result};

/// The query.
pub(super) fn write(arguments: &GeneratePattern) -> Result<String> {
    let table = path(&arguments.table_name)?;
    let body = match arguments.pattern_type {
        Pattern::Pagination => {
            format!(
                "SELECT *\nFROM {table}\nORDER BY \"id\"\nLIMIT {}\nOFFSET {}",
                arguments.limit, arguments.offset
            )
        }
        Pattern::Filtering => format!(
            "SELECT *\nFROM {table}\nWHERE {}",
            conditions(&arguments.conditions)?
        ),
        Pattern::Sorting => format!(
            "SELECT *\nFROM {table}\nORDER BY {}",
            order(&arguments.order)?
        ),
        Pattern::Relationship => {
            let child = path(needed(arguments.child_table.as_deref(), "--child-table")?)?;
            let key = identifier(needed(arguments.foreign_key.as_deref(), "--foreign-key")?)?;
            format!(
                "SELECT parent.*,\n    coalesce((\n        SELECT jsonb_agg(to_jsonb(child) ORDER BY child.\"id\")\n        \
                 FROM {child} AS child\n        WHERE child.{key} = parent.\"id\"\n    ), '[]'::jsonb) AS children\n\
                 FROM {table} AS parent"
            )
        }
        Pattern::Aggregation => {
            let column = identifier(needed(arguments.group_by.as_deref(), "--group-by")?)?;
            format!(
                "SELECT {column}, count(*) AS count\nFROM {table}\nGROUP BY {column}\nORDER BY count DESC, {column}"
            )
        }
    };

    Ok(format!("{body};\n"))
}

fn needed<'a>(given: Option<&'a str>, option: &str) -> Result<&'a str> {
    given.ok_or_else(|| Failure::new(format!("this pattern needs {option}")))
}

fn conditions(given: &[String]) -> Result<String> {
    let mut conditions = Vec::new();
    for condition in given {
        let bad = || {
            Failure::new(format!("`{condition}` is not a condition"))
                .hint("write it as field=value")
        };
        let (field, value) = condition.split_once('=').ok_or_else(bad)?;

        // A quoted literal takes the type of its column, so numbers need no other form.
        conditions.push(format!("{} = {}", identifier(field)?, literal(value)?));
    }

    if conditions.is_empty() {
        return Err(
            Failure::new("this pattern needs --where").hint("write it as --where field=value")
        );
    }

    Ok(conditions.join("\n  AND "))
}

fn order(given: &[String]) -> Result<String> {
    let mut keys = Vec::new();
    for key in given {
        let (field, direction) = key.rsplit_once(':').unwrap_or((key, "asc"));
        let direction = match direction.to_ascii_lowercase().as_str() {
            "asc" => "ASC",
            "desc" => "DESC",
            _ => {
                return Err(Failure::new(format!("`{direction}` is not a direction"))
                    .hint("use asc or desc"));
            }
        };
        keys.push(format!("{} {direction}", identifier(field)?));
    }

    if keys.is_empty() {
        return Err(
            Failure::new("this pattern needs --order").hint("write it as --order field:desc")
        );
    }

    Ok(keys.join(", "))
}
