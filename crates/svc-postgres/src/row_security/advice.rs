//! The causes of slow policies.

use super::finding::Finding;
use super::verdict::reached;
use crate::driver::{DedicatedConnection, DriverError};

// An index helps a policy if each index column before the policy's is also compared, by the same
// policy or by one that applies in addition: a restrictive policy, or, for a restrictive policy,
// the only permissive one.
const POLICIES: &str = ", policies AS (
    SELECT p.oid, p.polname::text AS name, p.polrelid AS rel, p.polpermissive AS permissive,
        coalesce(pg_get_expr(p.polqual, p.polrelid), '') AS qual,
        ARRAY(SELECT a.attname::text FROM pg_depend d JOIN pg_attribute a ON a.attrelid = p.polrelid AND a.attnum = d.refobjsubid
            WHERE d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
            AND d.refobjid = p.polrelid AND d.refobjsubid > 0) AS columns,
        ARRAY(SELECT f.proname::text FROM pg_depend d JOIN pg_proc f ON f.oid = d.refobjid
            WHERE d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_proc'::regclass) AS functions
    FROM pg_policy p JOIN guarded t ON t.oid = p.polrelid AND t.relrowsecurity
    WHERE p.polcmd IN ('r', '*') AND p.polrelid IN (SELECT rel FROM reached)
)
SELECT rel::regclass::text, name, qual, columns, functions,
    EXISTS (SELECT FROM pg_index i, generate_series(0, i.indnkeyatts - 1) AS g(n), pg_attribute a
        WHERE i.indrelid = p.rel AND a.attrelid = p.rel AND a.attnum = i.indkey[g.n] AND a.attname = ANY (p.columns)
        AND NOT EXISTS (SELECT FROM generate_series(0, g.n - 1) AS b(n)
            LEFT JOIN pg_attribute x ON x.attrelid = p.rel AND x.attnum = i.indkey[b.n]
            WHERE x.attname IS NULL OR NOT EXISTS (SELECT FROM policies o
                WHERE o.rel = p.rel AND x.attname = ANY (o.columns) AND (o.oid = p.oid OR NOT o.permissive
                    OR NOT p.permissive AND 1 = (SELECT count(*) FROM policies c WHERE c.rel = p.rel AND c.permissive)))))
FROM policies p ORDER BY 1, 2";

/// Columns that lead an index which clients' filters cannot use: PostgreSQL checks the policy
/// first, unless the comparison is leakproof, so that it reveals nothing about the rows.
const LEAKS: &str = "
SELECT DISTINCT t.oid::regclass::text, a.attname::text, format_type(a.atttypid, a.atttypmod), f.oid::regproc::text
FROM guarded t
JOIN pg_index i ON i.indrelid = t.oid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
JOIN pg_opclass c ON c.oid = i.indclass[0]
JOIN pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree'
JOIN pg_amop o ON o.amopfamily = c.opcfamily AND o.amopstrategy = 3
    AND o.amoplefttype = c.opcintype AND o.amoprighttype = c.opcintype
JOIN pg_operator e ON e.oid = o.amopopr
JOIN pg_proc f ON f.oid = e.oprcode AND NOT f.proleakproof
WHERE t.relrowsecurity AND t.has_policies AND t.oid IN (SELECT rel FROM reached)
ORDER BY 1, 2";

type Policy = (String, String, String, Vec<String>, Vec<String>, bool);

/// Returns the causes that make reads behind these views and tables slower than necessary.
pub(super) async fn slow(
    connection: &mut DedicatedConnection,
    quoted: &[String],
) -> Result<Vec<Finding>, DriverError> {
    let policies: Vec<Policy> = connection.rows(&reached(POLICIES, quoted)).await?;
    let leaks: Vec<(String, String, String, String)> =
        connection.rows(&reached(LEAKS, quoted)).await?;
    let mut findings: Vec<Finding> = policies.iter().flat_map(of_policy).collect();

    findings.extend(leaks.into_iter().map(|(table, column, ty, function)| Finding {
        what: format!(
            "a filter on `{column}` of `{table}` cannot use its index, as the policy is asked first: `{function}`, \
             which compares {ty}, is not leakproof"
        ),
        fix: format!("lead the index with the column of the policy, and then `{column}`"),
    }));

    Ok(findings)
}

fn of_policy((table, name, qual, columns, functions, is_indexed): &Policy) -> Vec<Finding> {
    let policy = format!("`{name}` on `{table}`");
    let mut findings = Vec::new();
    let per_row = outside_subselects(qual);

    if calls(&per_row, "current_setting") {
        findings.push(Finding {
            what: format!("{policy} calls current_setting for each row"),
            fix: "write (SELECT current_setting(…)), which runs once for a statement".to_owned(),
        });
    }

    for function in functions
        .iter()
        .filter(|function| calls(&per_row, function))
    {
        findings.push(Finding {
            what: format!("{policy} calls `{function}` for each row"),
            fix: format!("write (SELECT {function}(…)) if it does not depend on the row"),
        });
    }

    if let (Some(column), false) = (columns.first(), is_indexed) {
        findings.push(Finding {
            what: format!(
                "{policy} compares `{}`, and no index begins with it",
                columns.join("`, `")
            ),
            fix: format!("CREATE INDEX ON {table} ({column})"),
        });
    }

    findings
}

/// Whether an expression calls a function.
fn calls(expression: &str, function: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let call = format!("{function}(");
    expression
        .match_indices(&call)
        .any(|(at, _)| !expression[..at].ends_with(is_part))
}

/// An expression as printed by PostgreSQL, without its subselects and texts.
fn outside_subselects(expression: &str) -> String {
    let (mut kept, mut depth, mut inside) = (String::new(), 0, None);
    let mut rest = expression.char_indices();
    while let Some((at, char)) = rest.next() {
        match char {
            // A doubled quote ends one text and starts the next, which has the same effect here.
            '\'' => {
                rest.by_ref().find(|(_, char)| *char == '\'');
                continue;
            }
            '(' => {
                depth += 1;
                if inside.is_none() && expression[at + 1..].trim_start().starts_with("SELECT ") {
                    inside = Some(depth);
                }
            }
            _ => {}
        }

        if inside.is_none() {
            kept.push(char);
        }

        if char == ')' {
            if inside == Some(depth) {
                inside = None;
            }
            depth -= 1;
        }
    }

    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_a_subselect_run_once() {
        for (expression, per_row) in [
            ("(tenant = current_setting('a.b'::text))", true),
            (
                "(tenant = ( SELECT current_setting('a.b'::text, true) AS current_setting))",
                false,
            ),
            (
                "((a = ( SELECT 1)) AND (b = (NULLIF(current_setting('a.b'::text), ''::text))::uuid))",
                true,
            ),
            ("(a = 'current_setting('::text)", false),
            ("(a = my_current_setting())", false),
            (
                "(a IN ( SELECT t.id FROM t WHERE (t.x = current_setting('it''s (SELECT '::text))))",
                false,
            ),
        ] {
            assert_eq!(
                calls(&outside_subselects(expression), "current_setting"),
                per_row,
                "{expression}"
            );
        }
    }
}
