//! The meaning of policies, in plain Rust: conditions of three values, and how decisions come
//! together.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use svc::db::{Filter, SqlValue};
use svc::prelude::*;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(Option<&'static str>),
    Number(Option<i32>),
    Flag(Option<bool>),
}

/// A post or a user.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: i32,
    pub(super) fields: Vec<(&'static str, Value)>,
    /// The end of the relation.
    pub(super) related: Vec<usize>,
}

/// All rows: posts lead to their authors, and users to their posts.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) posts: Vec<Row>,
    pub(super) users: Vec<Row>,
}

/// The type of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Of {
    Posts,
    Users,
}

impl Of {
    fn related(self) -> (&'static str, Self) {
        match self {
            Self::Posts => ("author", Self::Users),
            Self::Users => ("posts", Self::Posts),
        }
    }
}

/// A comparison with a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
}

/// A condition of a policy.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(&'static str, Operator, Value),
    OneOf(&'static str, Vec<Value>, bool),
    IsNull(&'static str),
    Related(Of, Box<Condition>),
}

/// A decision of one policy.
#[derive(Debug, Clone)]
pub(super) enum Decision {
    Allow(Option<Condition>),
    Deny(Option<Condition>),
    Abstain,
}

impl Value {
    fn sql(&self) -> SqlValue {
        match self {
            Self::Text(text) => (*text).into(),
            Self::Number(number) => (*number).into(),
            Self::Flag(flag) => (*flag).into(),
        }
    }

    fn is_null(&self) -> bool {
        matches!(
            self,
            Self::Text(None) | Self::Number(None) | Self::Flag(None)
        )
    }

    fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Text(Some(one)), Self::Text(Some(other))) => Some(one.cmp(other)),
            (Self::Number(Some(one)), Self::Number(Some(other))) => Some(one.cmp(other)),
            (Self::Flag(Some(one)), Self::Flag(Some(other))) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl Condition {
    /// The condition as a program writes it.
    pub(super) fn filter(&self) -> Filter {
        match self {
            Self::All(all) => Filter::All(all.iter().map(Self::filter).collect()),
            Self::Any(any) => Filter::Any(any.iter().map(Self::filter).collect()),
            Self::Not(inner) => inner.filter().not(),
            Self::Compare(name, operator, value) => {
                let (column, value) = (col(name), value.sql());
                match operator {
                    Operator::Eq => column.eq(value),
                    Operator::Ne => column.ne(value),
                    Operator::Lt => column.lt(value),
                    Operator::Lte => column.lte(value),
                    Operator::Gt => column.gt(value),
                    Operator::Gte => column.gte(value),
                }
            }
            Self::OneOf(name, values, is_in) => {
                let values = SqlValue::List(values.iter().map(Value::sql).collect());
                if *is_in {
                    col(name).is_in(values)
                } else {
                    col(name).not_in(values)
                }
            }
            Self::IsNull(name) => col(name).is_null(),
            Self::Related(of, inner) => col(of.related().0).some(inner.filter()),
        }
    }

    /// Whether it holds for a row; `None` is unknown.
    pub(super) fn holds(&self, rows: &Rows, row: &Row) -> Option<bool> {
        let stored = |name: &str| {
            &row.fields
                .iter()
                .find(|(known, _)| *known == name)
                .expect("a field")
                .1
        };
        match self {
            Self::All(all) => and(all.iter().map(|condition| condition.holds(rows, row))),
            Self::Any(any) => and(any
                .iter()
                .map(|condition| condition.holds(rows, row).map(|holds| !holds)))
            .map(|all| !all),
            Self::Not(inner) => inner.holds(rows, row).map(|holds| !holds),
            Self::Compare(name, operator, value) => compare(stored(name), *operator, value),
            Self::OneOf(name, values, is_in) => {
                let differ = values.iter().map(|value| match value.is_null() {
                    true => None,
                    false => compare(stored(name), Operator::Ne, value),
                });
                let none = and(differ);
                if *is_in { none.map(|none| !none) } else { none }
            }
            Self::IsNull(name) => Some(stored(name).is_null()),
            Self::Related(of, inner) => {
                let others = match of.related().1 {
                    Of::Posts => &rows.posts,
                    Of::Users => &rows.users,
                };
                Some(
                    row.related
                        .iter()
                        .any(|at| inner.holds(rows, &others[*at]) == Some(true)),
                )
            }
        }
    }

    /// A random condition on rows of a type.
    pub(super) fn random(of: Of, depth: usize, rng: &mut StdRng) -> Self {
        let some = |rng: &mut StdRng| {
            (0..rng.random_range(0..4))
                .map(|_| Self::random(of, depth - 1, rng))
                .collect()
        };
        match rng.random_range(0..if depth > 0 { 8 } else { 4 }) {
            4 => Self::All(some(rng)),
            5 => Self::Any(some(rng)),
            6 => Self::Not(Box::new(Self::random(of, depth - 1, rng))),
            7 => Self::Related(of, Box::new(Self::random(of.related().1, depth - 1, rng))),
            other => {
                let name = *names(of).choose(rng).expect("a field");
                match other {
                    0 => Self::IsNull(name),
                    1 => {
                        let values = (0..rng.random_range(0..3))
                            .map(|_| value(name, rng))
                            .collect();
                        Self::OneOf(name, values, rng.random())
                    }
                    _ => {
                        use Operator::{Eq, Gt, Gte, Lt, Lte, Ne};
                        let operator =
                            *[Eq, Ne, Lt, Lte, Gt, Gte].choose(rng).expect("an operator");
                        Self::Compare(name, operator, value(name, rng))
                    }
                }
            }
        }
    }
}

fn names(of: Of) -> &'static [&'static str] {
    match of {
        Of::Posts => &["title", "tenant", "score", "locked"],
        Of::Users => &["name", "tenant"],
    }
}

/// A random value of a field.
pub(super) fn value(name: &str, rng: &mut StdRng) -> Value {
    let is_null = rng.random_bool(0.2);
    match name {
        "score" => Value::Number((!is_null).then(|| rng.random_range(0..5))),
        "locked" => Value::Flag((!is_null).then(|| rng.random())),
        "name" => Value::Text(Some(["a", "b", "c"].choose(rng).expect("a text"))),
        _ => Value::Text((!is_null).then(|| *["a", "b", "c"].choose(rng).expect("a text"))),
    }
}

/// By SQL, a comparison with null is unknown; `eq` and `ne` of a null value ask for null itself.
fn compare(stored: &Value, operator: Operator, value: &Value) -> Option<bool> {
    match operator {
        Operator::Eq if value.is_null() => return Some(stored.is_null()),
        Operator::Ne if value.is_null() => return Some(!stored.is_null()),
        _ => {}
    }
    let order = stored.compare(value)?;
    Some(match operator {
        Operator::Eq => order.is_eq(),
        Operator::Ne => order.is_ne(),
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
    })
}

#[expect(
    clippy::manual_try_fold,
    reason = "something unknown does not end it: a later false does"
)]
fn and(conditions: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    conditions.fold(Some(true), |all, one| match (all, one) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

impl Decision {
    pub(super) fn random(rng: &mut StdRng) -> Self {
        let condition = |rng: &mut StdRng| Condition::random(Of::Posts, 3, rng);
        match rng.random_range(0..12) {
            0 => Self::Allow(None),
            1 => Self::Abstain,
            2 if rng.random_bool(0.3) => Self::Deny(None),
            3..=5 => Self::Deny(Some(condition(rng))),
            _ => Self::Allow(Some(condition(rng))),
        }
    }

    /// The decision as a policy returns it.
    pub(super) fn decision(&self) -> RowDecision {
        match self {
            Self::Allow(None) => RowDecision::allow(),
            Self::Allow(Some(condition)) => RowDecision::allow_where(condition.filter()),
            Self::Deny(None) => RowDecision::deny(),
            Self::Deny(Some(condition)) => RowDecision::deny_where(condition.filter()),
            Self::Abstain => RowDecision::abstain(),
        }
    }
}

/// Whether a row is read: a policy permits it, and none denies it or does not know.
pub(super) fn is_read(decisions: &[Decision], rows: &Rows, row: &Row) -> bool {
    let holds = |condition: &Option<Condition>| {
        condition
            .as_ref()
            .map_or(Some(true), |given| given.holds(rows, row))
    };
    let permits = |decision: &Decision| matches!(decision, Decision::Allow(given) if holds(given) == Some(true));
    let denies = |decision: &Decision| matches!(decision, Decision::Deny(given) if holds(given) != Some(false));
    decisions.iter().any(permits) && !decisions.iter().any(denies)
}
