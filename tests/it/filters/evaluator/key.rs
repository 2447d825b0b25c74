//! Values as they compare.

use serde_json::Value;
use svc::prelude::{DateTime, Decimal, NaiveDate, NaiveTime, Utc};

use super::super::fields::Kind;
use super::super::values::DURATIONS;
use super::{documents, networks, text_of};

/// A value that can be compared with others of its kind.
#[derive(Debug, PartialEq, PartialOrd)]
pub(super) enum Key {
    Text(String),
    Integer(i64),
    Float(f64),
    Decimal(Decimal),
    Bool(bool),
    Date(NaiveDate),
    Time(NaiveTime),
    Instant(DateTime<Utc>),
    Network(networks::Network),
    Dates(Option<[Option<NaiveDate>; 2]>),
}

pub(super) fn equal(kind: Kind, one: &Value, other: &Value) -> bool {
    match kind {
        Kind::Json => documents::normal(one) == documents::normal(other),
        kind => Key::of(kind, one) == Key::of(kind, other),
    }
}

impl Key {
    pub(super) fn of(kind: Kind, value: &Value) -> Self {
        let text = || {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        match kind {
            Kind::Uuid => Self::Text(text().to_lowercase()),
            Kind::Int | Kind::BigInt | Kind::Total => {
                Self::Integer(text().parse().expect("an integer"))
            }
            Kind::Step | Kind::Float | Kind::Percentage | Kind::Port => {
                Self::Float(value.as_f64().expect("a number"))
            }
            Kind::Decimal => Self::Decimal(text().parse().expect("a decimal")),
            Kind::Bool => Self::Bool(value.as_bool().expect("a Boolean")),
            Kind::Date => Self::Date(text().parse().expect("a date")),
            Kind::Time => Self::Time(text().parse().expect("a time")),
            Kind::Instant => Self::Instant(text().parse().expect("an instant")),
            Kind::Inet | Kind::Cidr => Self::Network(networks::Network::of(text_of(value))),
            Kind::Mac => Self::Text(text().to_lowercase().replace([':', '-', '.'], "")),
            Kind::Dates => Self::Dates(dates(text_of(value))),
            Kind::Duration => Self::Integer(length(text_of(value))),
            _ => Self::Text(text()),
        }
    }
}

/// The seconds that PostgreSQL compares: a month has 30 days, a day 24 hours.
fn length(duration: &str) -> i64 {
    let known = DURATIONS.iter().find(|(text, ..)| *text == duration);
    let [months, days, seconds] = known.expect("a known duration").2;
    (months * 30 + days) * 86_400 + seconds
}

/// The first date, and the first one after the range.
fn dates(text: &str) -> Option<[Option<NaiveDate>; 2]> {
    if text == "empty" {
        return None;
    }
    let (lower, upper) = text[1..text.len() - 1].split_once(',').expect("a range");
    let [lower, upper] = [lower, upper].map(|bound| bound.parse::<NaiveDate>().ok());
    let after = |date: Option<NaiveDate>| date.map(|date| date.succ_opt().expect("a date"));
    let lower = if text.starts_with('(') {
        after(lower)
    } else {
        lower
    };
    let upper = if text.ends_with(']') {
        after(upper)
    } else {
        upper
    };
    Some([lower, upper])
}

pub(super) fn dates_hold(operator: &str, stored: &str, given: &str) -> bool {
    let Some([lower, upper]) = dates(stored) else {
        return false;
    };
    if operator == "contains_date" {
        let date: NaiveDate = given.parse().expect("a date");
        return lower.is_none_or(|lower| lower <= date) && upper.is_none_or(|upper| date < upper);
    }
    let Some([from, to]) = dates(given) else {
        return false;
    };
    let left = |upper: Option<NaiveDate>, lower: Option<NaiveDate>| matches!((upper, lower), (Some(upper), Some(lower)) if upper <= lower);
    match operator {
        "overlaps" => !left(upper, from) && !left(to, lower),
        "adjacent" => (upper.is_some() && upper == from) || (to.is_some() && to == lower),
        "strictly_left" => left(upper, from),
        _ => left(to, lower),
    }
}

pub(super) fn path_holds(operator: &str, stored: &str, given: &Value) -> bool {
    let labels = |text: &str| {
        text.split('.')
            .filter(|label| !label.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let stored = labels(stored);
    match operator {
        "ancestor_of" => labels(text_of(given)).starts_with(&stored),
        "descendant_of" => stored.starts_with(&labels(text_of(given))),
        // The generator only asks for patterns of this form.
        "matches_lquery" => {
            let label = text_of(given).trim_matches(['*', '.']).to_owned();
            stored.contains(&label)
        }
        _ => {
            let (level, given) = (stored.len() as i64, given.as_i64().expect("a number"));
            match operator {
                "nlevel_eq" => level == given,
                "nlevel_gte" => level >= given,
                _ => level <= given,
            }
        }
    }
}
