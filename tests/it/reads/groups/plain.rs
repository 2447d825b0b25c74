//! Questions about groups, and a plain evaluation of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::rows::{Cell, Rows, Sale, shown};

/// The page of groups where no limit is given.
const PAGE: usize = 20;

/// Something that is computed of a group: `count`, or a function and a field.
#[derive(Debug, Clone)]
pub(super) struct Computed {
    pub(super) function: &'static str,
    pub(super) field: &'static str,
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Computed, &'static str, Cell),
    IsNull(Computed, bool),
}

#[derive(Debug, Clone)]
pub(super) enum Key {
    Of(Computed),
    Value(&'static str),
}

/// A query: rows with more than some pieces, in groups.
#[derive(Debug)]
pub(super) struct GroupQuery {
    pub(super) pieces_above: Option<i64>,
    pub(super) by: Vec<&'static str>,
    pub(super) shown: Vec<&'static str>,
    pub(super) computed: Vec<Computed>,
    pub(super) having: Option<Condition>,
    pub(super) order: Vec<(Key, &'static str)>,
    pub(super) limit: Option<usize>,
    pub(super) offset: usize,
}

impl GroupQuery {
    /// The groups as a service has to give them.
    pub(super) fn answer(&self, rows: &Rows) -> Json {
        let mut groups: BTreeMap<Vec<(bool, Option<Cell>)>, Vec<&Sale>> = BTreeMap::new();
        if self.by.is_empty() {
            groups.insert(Vec::new(), Vec::new());
        }
        for sale in &rows.sales {
            let pieces = rows.value(sale, "pieces");
            if self
                .pieces_above
                .is_none_or(|above| pieces.is_some_and(|pieces| pieces > Cell::Number(above, 1)))
            {
                let value = |field: &&str| rows.value(sale, field);
                let key = self
                    .by
                    .iter()
                    .map(value)
                    .map(|value| (value.is_none(), value))
                    .collect();
                groups.entry(key).or_default().push(sale);
            }
        }
        let mut groups: Vec<_> = groups
            .into_iter()
            .map(|(key, sales)| Group {
                rows,
                by: &self.by,
                key,
                sales,
            })
            .collect();
        groups.retain(|group| {
            self.having
                .as_ref()
                .is_none_or(|having| group.matches(having) == Some(true))
        });
        // They are in the order of their keys already, and this sort is stable.
        groups.sort_by(|one, other| self.rank(one, other));
        let page = groups
            .iter()
            .skip(self.offset)
            .take(self.limit.unwrap_or(PAGE));
        page.map(|group| group.shown(self)).collect()
    }

    fn rank(&self, one: &Group<'_>, other: &Group<'_>) -> Ordering {
        let ranks = self.order.iter().map(|(key, direction)| {
            let (one, other) = (one.order_key(key), other.order_key(key));
            let nulls_first = matches!(*direction, "DESC" | "ASC_NULLS_FIRST" | "DESC_NULLS_FIRST");
            match (&one, &other) {
                (None, None) => Ordering::Equal,
                (None, _) if nulls_first => Ordering::Less,
                (_, None) if nulls_first => Ordering::Greater,
                (None, _) => Ordering::Greater,
                (_, None) => Ordering::Less,
                (one, other) if direction.starts_with("DESC") => other.cmp(one),
                (one, other) => one.cmp(other),
            }
        });
        ranks.fold(Ordering::Equal, Ordering::then)
    }
}

struct Group<'a> {
    rows: &'a Rows,
    by: &'a [&'static str],
    key: Vec<(bool, Option<Cell>)>,
    sales: Vec<&'a Sale>,
}

impl Group<'_> {
    fn key(&self, field: &str) -> Option<&Cell> {
        let at = self
            .by
            .iter()
            .position(|known| *known == field)
            .expect("a key");
        self.key[at].1.as_ref()
    }

    fn order_key(&self, key: &Key) -> Option<Cell> {
        match key {
            Key::Of(computed) => self.computed(computed),
            Key::Value(field) => self.key(field).cloned(),
        }
    }

    fn computed(&self, computed: &Computed) -> Option<Cell> {
        let mut values: Vec<Cell> = self
            .sales
            .iter()
            .filter_map(|sale| self.rows.value(sale, computed.field))
            .collect();
        values.sort();
        let number = |count: usize| Cell::Number(i64::try_from(count).unwrap(), 1);
        let total = |values: &[Cell]| {
            let parts = values.iter().map(|value| match value {
                Cell::Number(numerator, denominator) => (*numerator, *denominator),
                other => panic!("a sum of {other:?}"),
            });
            parts.reduce(|(sum, denominator), (numerator, _)| (sum + numerator, denominator))
        };
        match computed.function {
            "count" => Some(number(self.sales.len())),
            "countDistinct" => {
                values.dedup();
                Some(number(values.len()))
            }
            "min" => values.first().cloned(),
            "max" => values.last().cloned(),
            "sum" => total(&values).map(|(sum, denominator)| Cell::Number(sum, denominator)),
            _ => total(&values).map(|(sum, denominator)| {
                Cell::Number(sum, denominator * i64::try_from(values.len()).unwrap())
            }),
        }
    }

    /// Whether a condition holds; `None` where it is unknown.
    fn matches(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::All(all) => {
                let all: Vec<_> = all.iter().map(|one| self.matches(one)).collect();
                if all.contains(&Some(false)) {
                    Some(false)
                } else {
                    (!all.contains(&None)).then_some(true)
                }
            }
            Condition::Any(any) => {
                let any: Vec<_> = any.iter().map(|one| self.matches(one)).collect();
                if any.contains(&Some(true)) {
                    Some(true)
                } else {
                    (!any.contains(&None)).then_some(false)
                }
            }
            Condition::Not(inner) => Some(self.matches(inner) != Some(true)),
            Condition::IsNull(computed, is_null) => {
                Some(self.computed(computed).is_none() == *is_null)
            }
            Condition::Compare(computed, operator, value) => {
                let found = self.computed(computed);
                if *operator == "neq" {
                    return Some(found.as_ref() != Some(value));
                }
                let rank = found?.cmp(value);
                Some(match *operator {
                    "eq" => rank.is_eq(),
                    "gt" => rank.is_gt(),
                    "gte" => rank.is_ge(),
                    "lt" => rank.is_lt(),
                    _ => rank.is_le(),
                })
            }
        }
    }

    fn shown(&self, group_query: &GroupQuery) -> Json {
        let mut group = Map::new();
        for (at, field) in group_query.shown.iter().enumerate() {
            let value = shown(field.split(['/', '.']).next().unwrap(), self.key(field));
            let key = group.entry("key").or_insert_with(|| json!({}));
            match field.starts_with("shop.") {
                true => key[format!("s{at}")] = json!({ format!("k{at}"): value }),
                false => key[format!("k{at}")] = value,
            }
        }
        for (at, computed) in group_query.computed.iter().enumerate() {
            let value = self.computed(computed);
            let is_count = computed.function.starts_with("count");
            let value = shown(if is_count { "" } else { computed.field }, value.as_ref());
            group.insert(
                format!("c{at}"),
                if computed.function == "count" {
                    value
                } else {
                    json!({ "v": value })
                },
            );
        }
        Json::Object(group)
    }
}
