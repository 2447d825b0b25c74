//! The keys of JSON documents built by a view, such as `jsonb_build_object('id', id)`.

use std::collections::BTreeMap;

use super::Nulls;
use super::scope::{RELATION, SUBQUERY, Scope};
use super::tree::Node;

/// Types of constants.
const TEXT: u32 = 25;
const UNKNOWN: u32 = 705;

type Keys = BTreeMap<String, Nulls>;

impl Scope<'_> {
    /// The keys of the object in a column of the result; none unless the query lists them.
    pub(super) fn keys_of_output(&self, column: usize) -> Option<Keys> {
        if self.query.has("setOperations") || self.has_grouping_sets() {
            return None;
        }
        self.keys(self.target(column)?.node("expr")?)
    }

    fn keys(&self, expression: &Node) -> Option<Keys> {
        match expression.name.as_str() {
            "FUNCEXPR" => self.keys_of_call(expression),
            "OPEXPR" if self.function(expression.oid("opfuncid"))?.built_in() == "jsonb_concat" => {
                let mut keys = Keys::new();
                // As with `||`, the last of several equal keys wins.
                for arg in expression.nodes("args") {
                    keys.extend(self.keys(arg)?);
                }
                Some(keys)
            }
            "RELABELTYPE" | "COERCEVIAIO" => self.keys(expression.node("arg")?),
            "VAR" if expression.number("varlevelsup") == 0 => self.keys_of_column(
                expression.position("varno"),
                expression.position("varattno"),
            ),
            _ => None,
        }
    }

    fn keys_of_call(&self, call: &Node) -> Option<Keys> {
        let args = call.nodes("args");
        match (
            self.function(call.oid("funcid"))?.built_in(),
            args.as_slice(),
        ) {
            ("jsonb_build_object" | "json_build_object", _) if !call.flag("funcvariadic") => {
                let pairs = args.chunks_exact(2);
                pairs
                    .map(|pair| Some((constant(pair[0])?, self.nulls(pair[1]))))
                    .collect()
            }
            ("to_jsonb" | "to_json" | "row_to_json", [row, ..]) if is_whole_row(row) => {
                self.keys_of_row(row.position("varno"))
            }
            _ => None,
        }
    }

    /// The keys of a row: its columns.
    fn keys_of_row(&self, number: usize) -> Option<Keys> {
        let relation = self
            .relation(number)
            .filter(|_| !self.joins.may_miss(number, &[]))?;
        let columns: Vec<(usize, String)> = match relation.number("rtekind") {
            RELATION => {
                let (_, table) = self.table(number)?;
                table
                    .columns
                    .iter()
                    .map(|(column, found)| (*column, found.name.clone()))
                    .collect()
            }
            SUBQUERY => {
                let entries = relation.node("subquery")?.nodes("targetList");
                let kept = entries.into_iter().filter(|entry| !entry.flag("resjunk"));
                kept.map(|entry| (entry.position("resno"), entry.text("resname").to_owned()))
                    .collect()
            }
            _ => return None,
        };

        Some(
            columns
                .into_iter()
                .map(|(column, name)| (name, self.seen(number, column)))
                .collect(),
        )
    }

    /// The keys of a document from another view.
    fn keys_of_column(&self, number: usize, column: usize) -> Option<Keys> {
        // A missing row has a null document, without any keys.
        if self.joins.may_miss(number, &[]) {
            return None;
        }

        let relation = self.relation(number)?;
        match relation.number("rtekind") {
            RELATION => self.facts.keys(relation.oid("relid"), column),
            SUBQUERY => Scope::new(self.facts, relation.node("subquery")?, Some(self))
                .keys_of_output(column),
            _ => None,
        }
    }
}

fn is_whole_row(expression: &Node) -> bool {
    expression.name == "VAR"
        && expression.number("varattno") == 0
        && expression.number("varlevelsup") == 0
}

/// The text of a constant.
fn constant(expression: &Node) -> Option<String> {
    if expression.name == "RELABELTYPE" {
        return constant(expression.node("arg")?);
    }

    if expression.name != "CONST" || expression.flag("constisnull") {
        return None;
    }

    let bytes = expression.bytes("constvalue");
    let text = match expression.oid("consttype") {
        // After the four bytes of its length.
        TEXT => bytes.get(4..)?,
        // A C string.
        UNKNOWN => bytes.strip_suffix(&[0])?,
        _ => return None,
    };

    String::from_utf8(text.to_vec()).ok()
}
