//! Rows, and what is computed over them.

use std::cmp::Ordering;

use rand::Rng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

#[derive(Clone)]
pub(super) struct Product {
    pub(super) id: i32,
    pub(super) name: String,
}

#[derive(Clone, PartialEq)]
pub(super) struct Review {
    pub(super) id: i32,
    pub(super) product: Option<i32>,
    pub(super) stars: i32,
    pub(super) body: Option<String>,
    pub(super) weight: Option<f64>,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) products: Vec<Product>,
    pub(super) reviews: Vec<Review>,
}

impl World {
    pub(super) fn random(rng: &mut StdRng) -> Self {
        let products: Vec<_> = (1..=rng.random_range(2..9))
            .map(|id| Product {
                id,
                name: ["a", "b", "c"][rng.random_range(0..3)].to_owned(),
            })
            .collect();
        let reviews = (1..=rng.random_range(0..40))
            .map(|id| Review {
                id,
                product: rng
                    .random_bool(0.9)
                    .then(|| rng.random_range(1..=products.len() as i32)),
                stars: rng.random_range(1..=6),
                body: rng
                    .random_bool(0.6)
                    .then(|| ["p", "q", "r"][rng.random_range(0..3)].to_owned()),
                weight: rng
                    .random_bool(0.6)
                    .then(|| f64::from(rng.random_range(-8..9)) / 4.0),
            })
            .collect();
        Self { products, reviews }
    }

    pub(super) fn with_few_stars(&self) -> Self {
        let reviews = self
            .reviews
            .iter()
            .filter(|review| review.stars < 5)
            .cloned()
            .collect();
        Self {
            products: self.products.clone(),
            reviews,
        }
    }

    pub(super) fn of(&self, product: &Product) -> Vec<&Review> {
        self.reviews
            .iter()
            .filter(|review| review.product == Some(product.id))
            .collect()
    }

    /// The SQL that puts these rows in the place of all others.
    pub(super) fn sql(&self) -> String {
        let null = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
        let products = self
            .products
            .iter()
            .map(|row| format!("({}, '{}', {})", row.id, row.name, row.id));
        let reviews = self.reviews.iter().map(|row| {
            let body = row.body.as_ref().map(|body| format!("'{body}'"));
            let (product, weight) = (
                row.product.map(|id| id.to_string()),
                row.weight.map(|weight| weight.to_string()),
            );
            format!(
                "({}, {}, {}, {}, {}, '2024-01-01')",
                row.id,
                null(product),
                row.stars,
                null(body),
                null(weight)
            )
        });
        let reviews: Vec<_> = reviews.collect();
        let insert = match reviews.is_empty() {
            true => String::new(),
            false => format!("INSERT INTO tb_review VALUES {};", reviews.join(", ")),
        };
        format!(
            "TRUNCATE tb_product, tb_review, tv_product, tv_review;
             INSERT INTO tb_product VALUES {}; {insert}
             INSERT INTO tv_product SELECT id, name, to_jsonb(t) FROM tb_product t;
             INSERT INTO tv_review SELECT id, product_id, stars, to_jsonb(t) FROM tb_review t;",
            products.collect::<Vec<_>>().join(", ")
        )
    }
}

/// A value that rows are compared and ordered by.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum Scalar {
    Number(f64),
    Text(String),
}

/// An aggregate: its place in an answer or a condition, and the type of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aggregate {
    Count,
    Of(&'static str, &'static str),
}

pub(super) const AGGREGATES: [Aggregate; 11] = [
    Aggregate::Count,
    Aggregate::Of("sum", "stars"),
    Aggregate::Of("avg", "stars"),
    Aggregate::Of("min", "stars"),
    Aggregate::Of("max", "stars"),
    Aggregate::Of("sum", "weight"),
    Aggregate::Of("avg", "weight"),
    Aggregate::Of("min", "weight"),
    Aggregate::Of("max", "weight"),
    Aggregate::Of("min", "body"),
    Aggregate::Of("max", "body"),
];

impl Aggregate {
    pub(super) fn of(self, rows: &[&Review]) -> Option<Scalar> {
        let Self::Of(function, field) = self else {
            return Some(Scalar::Number(rows.len() as f64));
        };
        let values: Vec<Scalar> = rows.iter().filter_map(|row| field_of(row, field)).collect();
        let numbers = || {
            values.iter().map(|value| {
                if let Scalar::Number(number) = value {
                    *number
                } else {
                    0.0
                }
            })
        };
        let order =
            |one: &&Scalar, other: &&Scalar| one.partial_cmp(other).unwrap_or(Ordering::Equal);
        match function {
            _ if values.is_empty() => None,
            "sum" => Some(Scalar::Number(numbers().sum())),
            "avg" => Some(Scalar::Number(numbers().sum::<f64>() / values.len() as f64)),
            "min" => values.iter().min_by(order).cloned(),
            _ => values.iter().max_by(order).cloned(),
        }
    }

    /// A value as a literal of the type that it is compared with.
    pub(super) fn literal(self, value: f64) -> String {
        match self {
            Self::Of(_, "body") => format!("{:?}", ["p", "q", "r"][(value.abs() as usize) % 3]),
            Self::Of("sum", "stars") => format!("\"{}\"", value as i64),
            Self::Of("avg", _) | Self::Of(_, "weight") => format!("{value:?}"),
            _ => format!("{}", value as i64),
        }
    }

    /// The same as a scalar.
    pub(super) fn scalar(self, value: f64) -> Scalar {
        match self {
            Self::Of(_, "body") => {
                Scalar::Text(["p", "q", "r"][(value.abs() as usize) % 3].to_owned())
            }
            Self::Of("avg", _) | Self::Of(_, "weight") => Scalar::Number(value),
            _ => Scalar::Number((value as i64) as f64),
        }
    }

    pub(super) fn json(self, rows: &[&Review]) -> Value {
        match self.of(rows) {
            None => Value::Null,
            Some(Scalar::Text(text)) => json!(text),
            Some(Scalar::Number(number)) => json!(number),
        }
    }
}

pub(super) fn field_of(row: &Review, field: &str) -> Option<Scalar> {
    match field {
        "id" => Some(Scalar::Number(row.id.into())),
        "stars" => Some(Scalar::Number(row.stars.into())),
        "weight" => row.weight.map(Scalar::Number),
        _ => row.body.clone().map(Scalar::Text),
    }
}
