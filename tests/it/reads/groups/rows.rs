//! Random rows, and their values by the names of fields.

use std::cmp::Ordering;
use std::fmt::Write as _;

use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::{Value as Json, json};

/// A value that is compared as PostgreSQL does, and shown as clients get it.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// A numerator and a denominator.
    Number(i64, i64),
    /// A text, or a date, or an instant.
    Text(String),
    /// Its stored text, and its name.
    Channel(&'static str),
    Flag(bool),
}

impl Cell {
    fn rank(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a, b), Self::Number(c, d)) => {
                (i128::from(*a) * i128::from(*d)).cmp(&(i128::from(*c) * i128::from(*b)))
            }
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Channel(one), Self::Channel(other)) => one.cmp(other),
            (Self::Flag(one), Self::Flag(other)) => one.cmp(other),
            _ => panic!("{self:?} and {other:?}"),
        }
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.rank(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other)
    }
}

/// The fields of sales whose values are compared.
pub(super) const FIELDS: [&str; 9] = [
    "channel", "city", "pieces", "price", "weight", "soldOn", "soldAt", "paid", "shopId",
];

#[derive(Debug)]
pub(super) struct Sale {
    pub(super) id: i64,
    channel: &'static str,
    city: Option<&'static str>,
    pieces: Option<i64>,
    cents: i64,
    halves: Option<i64>,
    /// Days since 1970.
    day: Option<i64>,
    /// Seconds since 1970.
    second: i64,
    paid: bool,
    shop: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Rows {
    pub(super) sales: Vec<Sale>,
    shops: Vec<(i64, &'static str, Option<&'static str>)>,
}

fn one<T: Copy>(values: &[T], rng: &mut StdRng) -> T {
    values[rng.random_range(0..values.len())]
}

/// 2023-11-01, a Wednesday.
const FIRST_DAY: i64 = 19_662;

pub(super) fn random(sales: usize, rng: &mut StdRng) -> Rows {
    let shop = |id| {
        (
            id,
            one(&["adler", "baer", "cafe"], rng),
            one(&[None, Some("at"), Some("de")], rng),
        )
    };
    let shops = (1..=4).map(shop).collect();
    let sale = |id| {
        let second = FIRST_DAY * 86_400 + rng.random_range(0..460 * 86_400);
        Sale {
            id,
            channel: one(&["s", "w"], rng),
            city: one(
                &[
                    None,
                    Some("aalen"),
                    Some("bonn"),
                    Some("celle"),
                    Some("ulm"),
                ],
                rng,
            ),
            pieces: rng.random_bool(0.8).then(|| rng.random_range(-3..8)),
            cents: rng.random_range(0..12) * 25,
            halves: rng.random_bool(0.7).then(|| rng.random_range(-2..6)),
            day: rng
                .random_bool(0.8)
                .then(|| FIRST_DAY + rng.random_range(0..460)),
            second: if rng.random_bool(0.3) {
                second / 86_400 * 86_400
            } else {
                second
            },
            paid: rng.random(),
            // One shop is not there.
            shop: rng.random_bool(0.8).then(|| rng.random_range(1..6)),
        }
    };
    Rows {
        sales: (1..=i64::try_from(sales).unwrap()).map(sale).collect(),
        shops,
    }
}

impl Rows {
    /// The statements that insert the rows.
    pub(super) fn sql(&self) -> String {
        let text = |text: Option<&str>| text.map_or("NULL".to_owned(), |text| format!("'{text}'"));
        let number =
            |number: Option<i64>| number.map_or("NULL".to_owned(), |number| number.to_string());
        let mut sql = String::new();
        for (id, name, country) in &self.shops {
            writeln!(
                sql,
                "INSERT INTO tb_shop VALUES ({id}, '{name}', {});",
                text(*country)
            )
            .unwrap();
        }
        for sale in &self.sales {
            let weight = sale
                .halves
                .map_or("NULL".to_owned(), |halves| format!("{halves} * 0.5"));
            writeln!(
                sql,
                "INSERT INTO tb_sale VALUES ({}, '{}', {}, {}, {}, {weight}, {}, '{}', {}, {});",
                sale.id,
                sale.channel,
                text(sale.city),
                number(sale.pieces),
                decimal(sale.cents),
                text(sale.day.map(date).as_deref()),
                instant(sale.second),
                sale.paid,
                number(sale.shop),
            )
            .unwrap();
        }
        sql
    }

    /// The value of a field of a sale, of its shop (`shop.name`), or of a period (`soldAt/month`).
    pub(super) fn value(&self, sale: &Sale, field: &str) -> Option<Cell> {
        let shop = sale
            .shop
            .and_then(|id| self.shops.iter().find(|shop| shop.0 == id));
        let text = |text: &str| Cell::Text(text.to_owned());
        if let Some((field, period)) = field.split_once('/') {
            return match field {
                "soldOn" => sale.day.map(|day| Cell::Text(date(begin(day, period)))),
                _ if period == "hour" => Some(Cell::Text(instant(sale.second / 3_600 * 3_600))),
                _ => Some(Cell::Text(instant(
                    begin(sale.second / 86_400, period) * 86_400,
                ))),
            };
        }
        match field {
            "id" => Some(Cell::Number(sale.id, 1)),
            "channel" => Some(Cell::Channel(sale.channel)),
            "city" => sale.city.map(text),
            "pieces" => sale.pieces.map(|pieces| Cell::Number(pieces, 1)),
            "price" => Some(Cell::Number(sale.cents, 100)),
            "weight" => sale.halves.map(|halves| Cell::Number(halves, 2)),
            "soldOn" => sale.day.map(|day| Cell::Text(date(day))),
            "soldAt" => Some(Cell::Text(instant(sale.second))),
            "paid" => Some(Cell::Flag(sale.paid)),
            "shopId" => sale.shop.map(|shop| Cell::Number(shop, 1)),
            "shop.id" => shop.map(|shop| Cell::Number(shop.0, 1)),
            "shop.name" => shop.map(|shop| text(shop.1)),
            "shop.country" => shop.and_then(|shop| shop.2).map(text),
            _ => panic!("there is no field {field}"),
        }
    }
}

/// A value as clients get it.
pub(super) fn shown(field: &str, cell: Option<&Cell>) -> Json {
    match cell {
        None => Json::Null,
        Some(Cell::Text(text)) => json!(text),
        Some(Cell::Flag(flag)) => json!(flag),
        Some(Cell::Channel(stored)) => json!(if *stored == "s" { "SHOP" } else { "WEB" }),
        Some(Cell::Number(cents, 100)) if field == "price" => json!(decimal(*cents)),
        Some(Cell::Number(numerator, denominator)) if numerator % denominator == 0 => {
            json!(numerator / denominator)
        }
        Some(Cell::Number(halves, _)) => json!(*halves as f64 / 2.0),
    }
}

pub(super) fn decimal(cents: i64) -> String {
    format!(
        "{}{}.{:02}",
        if cents < 0 { "-" } else { "" },
        cents.abs() / 100,
        cents.abs() % 100
    )
}

/// The first day of the period that a day lies in.
fn begin(day: i64, period: &str) -> i64 {
    let (year, month, _) = civil(day);
    match period {
        "year" => days(year, 1),
        "quarter" => days(year, (month - 1) / 3 * 3 + 1),
        "month" => days(year, month),
        // 1970-01-01 was a Thursday.
        "week" => day - (day + 3).rem_euclid(7),
        _ => day,
    }
}

const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    let length = LENGTHS[usize::try_from(month - 1).unwrap()];
    if month == 2 && is_leap(year) {
        length + 1
    } else {
        length
    }
}

/// The number of the first day of a month, since 1970.
fn days(year: i64, month: i64) -> i64 {
    let years: i64 = (1970..year)
        .map(|year| if is_leap(year) { 366 } else { 365 })
        .sum();
    years + (1..month).map(|month| length(year, month)).sum::<i64>()
}

fn civil(day: i64) -> (i64, i64, i64) {
    let year = (1970..).find(|year| days(year + 1, 1) > day).unwrap();
    let month = (1..=12)
        .rev()
        .find(|month| days(year, *month) <= day)
        .unwrap();
    (year, month, day - days(year, month) + 1)
}

pub(super) fn date(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

fn instant(second: i64) -> String {
    let rest = second % 86_400;
    format!(
        "{}T{:02}:{:02}:{:02}Z",
        date(second / 86_400),
        rest / 3_600,
        rest % 3_600 / 60,
        rest % 60
    )
}
