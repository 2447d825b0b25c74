//! The columns that PostgreSQL never fails to compute: the columns of tables, and columns of views
//! that are passed on or computed by functions that succeed for all values.
//!
//! The error of another column, such as `100 / divisor`, would reveal a row that a policy hides, so
//! a client's conditions on it are evaluated after the policy. Values of hundreds of megabytes,
//! which exceed the limits of any function, are disregarded.

use ahash::{HashMap, HashSet};

use super::query_tree::Node;
use crate::driver::{DedicatedConnection, DriverError};
use crate::statement::quoted;
use crate::{Param, Statement};

/// The views and tables of the schema, and everything that the views read.
const BELOW: &str = "\
    WITH RECURSIVE below (rel) AS ( \
        SELECT to_regclass(s.quoted)::oid FROM unnest($1::text[]) AS s(quoted) \
      UNION \
        SELECT d.refobjid FROM below b \
        JOIN pg_class c ON c.oid = b.rel AND c.relkind = 'v' \
        JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1' \
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid \
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid \
    ) ";

/// Their columns, and whether each is the column of a table; and the queries of the views, in rows
/// without a column. PostgreSQL computes virtual columns, and another server the columns of foreign
/// tables.
const COLUMNS_AND_QUERIES: &str = "\
    SELECT c.oid::int8, a.attnum::int8, a.attname::text, \
        c.relkind IN ('r', 'p', 'm') AND a.attgenerated <> 'v', NULL::text \
    FROM below b JOIN pg_class c ON c.oid = b.rel \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
  UNION ALL \
    SELECT c.oid::int8, 0::int8, ''::text, false, w.ev_action::text \
    FROM below b JOIN pg_class c ON c.oid = b.rel AND c.relkind = 'v' \
    JOIN pg_rewrite w ON w.ev_class = c.oid AND w.ev_type = '1'";

/// Functions of PostgreSQL that succeed for all values: leakproof functions, such as comparisons,
/// and the C functions in a list.
const FUNCTIONS: &str = "\
    SELECT p.oid::int8, p.prosrc::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang \
    WHERE p.oid < 16384 AND NOT p.proretset AND l.lanname = 'internal' \
    AND (p.proleakproof OR p.prosrc = ANY ($1::text[]))";

/// C functions that are not marked as leakproof. `to_jsonb` and `jsonb_build_object` succeed for
/// arguments of the types in [`TYPES`].
const TOTAL: &str = "\
    btrim btrim1 i2tod i2toi4 i4tod i8tod int28 int2_numeric int48 int4_numeric int8_numeric jsonb_array_element \
    jsonb_array_element_text jsonb_build_object jsonb_extract_path jsonb_extract_path_text jsonb_object_field \
    jsonb_object_field_text jsonb_typeof lower ltrim ltrim1 rtrim rtrim1 textcat textlen to_jsonb upper";

/// Types whose values can be converted to text and to JSON: enums, some types of PostgreSQL, and
/// arrays and domains of the latter.
const TYPES: &str = "\
    WITH plain (types) AS (SELECT '{bool,int2,int4,int8,float4,float8,numeric,text,varchar,bpchar,name,uuid,date,\
        time,timetz,timestamp,timestamptz,interval,bytea,inet,cidr,macaddr,jsonb}'::regtype[]::oid[]) \
    SELECT t.oid::int8 FROM plain, pg_type t \
    WHERE t.typtype = 'e' OR t.oid = ANY (types) OR t.typbasetype = ANY (types) \
    OR (t.typelem = ANY (types) AND t.typlen = -1)";

const BOOL: i64 = 16;
const TEXT: i64 = 25;

/// Relations in the `FROM` clause of a query, by the number of their kind.
const RELATION: i64 = 0;
const SUBQUERY: i64 = 1;

/// A column, by the numbers of its relation and of itself.
type Position = (i64, i64);

/// The columns that are known to be reliable or unreliable.
type Known = HashMap<Position, bool>;

/// Returns the columns that never fail, of the views and tables and of the relations below them:
/// the OID of each relation with the name of the column.
pub(super) async fn reliable_columns(
    connection: &mut DedicatedConnection,
    sources: &[String],
) -> Result<HashSet<(i64, String)>, DriverError> {
    let bound = vec![Param::Texts(quoted(sources))];
    let below = Statement::new([BELOW, COLUMNS_AND_QUERIES].concat(), bound);
    let below: Vec<(i64, i64, String, bool, Option<String>)> = connection.rows(&below).await?;
    let (queries, columns): (Vec<_>, Vec<_>) =
        below.into_iter().partition(|(.., query)| query.is_some());
    let names = TOTAL.split_whitespace().map(str::to_owned).collect();
    let functions = Statement::new(FUNCTIONS, vec![Param::Texts(names)]);
    let functions: Vec<(i64, String)> = connection.rows(&functions).await?;
    let types: Vec<(i64,)> = connection.rows(&Statement::new(TYPES, Vec::new())).await?;

    let database = Relations {
        stored: columns
            .iter()
            .map(|(relation, number, _, is_stored, _)| ((*relation, *number), *is_stored))
            .collect(),
        queries: queries
            .iter()
            .filter_map(|(view, .., text)| Some((*view, Node::query(text.as_deref()?)?)))
            .collect(),
        functions: functions.into_iter().collect(),
        types: types.into_iter().map(|(ty,)| ty).collect(),
    };

    let mut known = Known::default();
    let reliable = columns
        .iter()
        .filter(|(relation, number, ..)| database.is_reliable((*relation, *number), &mut known))
        .map(|(relation, _, name, ..)| (*relation, name.clone()));
    Ok(reliable.collect())
}

/// The views and tables, and the functions and types that never fail.
struct Relations<'t> {
    /// The existing columns, and whether each is the column of a table.
    stored: HashMap<Position, bool>,
    queries: HashMap<i64, Node<'t>>,
    /// The C function of each.
    functions: HashMap<i64, String>,
    types: HashSet<i64>,
}

impl Relations<'_> {
    fn is_reliable(&self, column: Position, known: &mut Known) -> bool {
        if let Some(known) = known.get(&column) {
            return *known;
        }

        // A view cannot read itself; one that appears to is not followed.
        known.insert(column, false);
        let (relation, number) = column;
        let is_reliable = match (self.stored.get(&column), self.queries.get(&relation)) {
            (Some(true), _) => true,
            (Some(false), Some(query)) => self.is_reliable_output(query, number, known),
            _ => false,
        };

        known.insert(column, is_reliable);
        is_reliable
    }

    /// Whether a query never fails to compute a column of its result.
    fn is_reliable_output(&self, query: &Node<'_>, number: i64, known: &mut Known) -> bool {
        // Each part of a union computes the column in its own way.
        if !query.nodes("setOperations").is_empty() {
            return false;
        }

        let entry = query.nodes("targetList").into_iter().find(|entry| {
            entry.number("resno") == Some(number) && entry.word("resjunk") == Some("false")
        });

        let Some(entry) = entry else { return false };
        match (entry.number("resorigtbl"), entry.number("resorigcol")) {
            // The column is passed on.
            (Some(relation), Some(column)) if relation != 0 => {
                self.is_reliable((relation, column), known)
            }
            _ => match entry.nodes("expr").as_slice() {
                [expression] => self.is_total(query, expression, known),
                _ => false,
            },
        }
    }

    /// Whether an expression has a value for each row.
    fn is_total(&self, query: &Node<'_>, expression: &Node<'_>, known: &mut Known) -> bool {
        let is_known = match expression.name {
            "VAR" => return self.is_reliable_variable(query, expression, known),
            "BOOLEANTEST" | "BOOLEXPR" | "CASE" | "CASEEXPR" | "CASETESTEXPR" | "CASEWHEN"
            | "COALESCE" | "COALESCEEXPR" | "CONST" | "NULLTEST" | "RELABELTYPE" | "WHEN" => true,
            "DISTINCTEXPR" | "NULLIFEXPR" | "OPEXPR" | "SCALARARRAYOPEXPR" => expression
                .number("opfuncid")
                .is_some_and(|function| self.functions.contains_key(&function)),
            "FUNCEXPR" => self.is_total_call(expression),
            "COERCEVIAIO" => {
                expression.number("resulttype") == Some(TEXT)
                    && expression.nodes("arg").iter().all(|arg| self.is_plain(arg))
            }
            _ => false,
        };

        is_known
            && expression
                .children()
                .all(|child| self.is_total(query, child, known))
    }

    /// Whether a function has a value for all values of its arguments.
    fn is_total_call(&self, call: &Node<'_>) -> bool {
        let function = call
            .number("funcid")
            .and_then(|function| self.functions.get(&function));
        let args = call.nodes("args");
        let is_key =
            |arg: &Node<'_>| arg.name == "CONST" && arg.word("constisnull") == Some("false");

        match function.map(String::as_str) {
            None => false,
            // The keys of an object must not be null.
            Some("jsonb_build_object") => {
                call.word("funcvariadic") == Some("false")
                    && args.len().is_multiple_of(2)
                    && args
                        .chunks_exact(2)
                        .all(|pair| is_key(pair[0]) && self.is_plain(pair[1]))
            }
            Some("to_jsonb") => args.iter().all(|arg| self.is_plain(arg)),
            Some(_) => true,
        }
    }

    /// Whether a column of a relation in the `FROM` clause is reliable.
    fn is_reliable_variable(
        &self,
        query: &Node<'_>,
        variable: &Node<'_>,
        known: &mut Known,
    ) -> bool {
        let position = variable
            .number("varno")
            .and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let (Some(position), Some(column), Some(0)) = (
            position,
            variable.number("varattno"),
            variable.number("varlevelsup"),
        ) else {
            return false;
        };

        let relations = query.nodes("rtable");
        let Some(from) = relations.get(position) else {
            return false;
        };

        match (from.number("rtekind"), from.number("relid")) {
            (Some(RELATION), Some(relation)) => self.is_reliable((relation, column), known),
            (Some(SUBQUERY), _) => match from.nodes("subquery").as_slice() {
                [query] => self.is_reliable_output(query, column, known),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the values of an expression can be converted to text and to JSON.
    fn is_plain(&self, expression: &Node<'_>) -> bool {
        let ty = match expression.name {
            "BOOLEANTEST" | "BOOLEXPR" | "NULLTEST" | "SCALARARRAYOPEXPR" => Some(BOOL),
            _ => [
                "vartype",
                "consttype",
                "funcresulttype",
                "opresulttype",
                "coalescetype",
                "casetype",
                "resulttype",
            ]
            .iter()
            .find_map(|field| expression.number(field)),
        };
        ty.is_some_and(|ty| self.types.contains(&ty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view of a table with the number 7 and a stored first column.
    fn is_reliable(entry: &str, more: &str) -> bool {
        let text = format!(
            "({{QUERY :rtable ({{RTE :eref {{ALIAS :aliasname t}} :rtekind 0 :relid 7}} \
             {{RTE :rtekind 2}}) :targetList ({{TARGETENTRY {entry} :resjunk false}}) {more}}})"
        );
        let database = Relations {
            stored: [((7, 1), true), ((9, 1), false)].into_iter().collect(),
            queries: [(9, Node::query(&text).unwrap())].into_iter().collect(),
            functions: [(20, "to_jsonb"), (21, "jsonb_build_object"), (22, "texteq")]
                .map(|(function, name)| (function, name.to_owned()))
                .into_iter()
                .collect(),
            types: [BOOL, TEXT].into_iter().collect(),
        };
        database.is_reliable((9, 1), &mut Known::default())
    }

    fn computed(expression: &str) -> bool {
        let entry = format!(":expr {expression} :resno 1 :resorigtbl 0 :resorigcol 0");
        is_reliable(&entry, ":setOperations <>")
    }

    fn variable(relation: u8, column: u8, ty: u8) -> String {
        format!("{{VAR :varno {relation} :varattno {column} :vartype {ty} :varlevelsup 0}}")
    }

    #[test]
    fn passed_on_columns_are_reliable() {
        let passed = |table: u8, column: u8| {
            format!(":expr {{VAR}} :resno 1 :resorigtbl {table} :resorigcol {column}")
        };

        assert!(is_reliable(&passed(7, 1), ":setOperations <>"));
        for (table, column) in [(7, 2), (7, 0), (8, 1), (9, 1)] {
            assert!(!is_reliable(&passed(table, column), ":setOperations <>"));
        }

        assert!(!is_reliable(
            &passed(7, 1),
            ":setOperations {SETOPERATIONSTMT :op 0}"
        ));
    }

    #[test]
    fn expressions_are_reliable_if_all_their_parts_are() {
        let [text, other] = [variable(1, 1, 25), variable(1, 1, 114)];
        let key = "{CONST :consttype 25 :constisnull false :constvalue 4 [ 1 2 ]}";
        let call = |function: u8, args: &str| {
            format!("{{FUNCEXPR :funcid {function} :funcvariadic false :args ({args})}}")
        };

        for expression in [
            text.clone(),
            call(20, &text),
            call(21, &format!("{key} {text} {key} {key}")),
            format!("{{OPEXPR :opfuncid 22 :opresulttype 16 :args ({text} {key})}}"),
            format!("{{COALESCE :coalescetype 25 :args ({text} {key})}}"),
            format!("{{COERCEVIAIO :arg {text} :resulttype 25}}"),
        ] {
            assert!(computed(&expression), "{expression}");
        }

        for expression in [
            variable(1, 2, 25),
            variable(2, 1, 25),
            variable(3, 1, 25),
            call(20, &other),
            call(21, &format!("{text} {text}")),
            call(21, key),
            call(23, &text),
            format!(
                "{{COALESCE :coalescetype 25 :args ({text} {})}}",
                call(23, key)
            ),
            format!("{{COERCEVIAIO :arg {text} :resulttype 23}}"),
            format!("{{SUBLINK :subselect {text}}}"),
        ] {
            assert!(!computed(&expression), "{expression}");
        }
    }
}
