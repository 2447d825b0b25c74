//! Arguments as JSON, in the order of the schema; what was not given is left out.

use serde_json::Value;
use svc::prelude::*;

use super::schema::{By, Role, Shape};

/// Something that can be echoed.
pub(super) trait Echo {
    /// Its JSON, or `None` when it was not given.
    fn json(&self) -> Option<String>;
}

/// A JSON object of what was given.
pub(super) fn object(fields: &[(&str, &dyn Echo)]) -> String {
    let fields = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("\"{name}\":{}", value.json()?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

impl<T: Echo> Echo for MaybeUndefined<T> {
    fn json(&self) -> Option<String> {
        match self {
            Self::Undefined => None,
            Self::Null => Some("null".to_owned()),
            Self::Value(value) => value.json(),
        }
    }
}

impl<T: Echo> Echo for Option<T> {
    fn json(&self) -> Option<String> {
        self.as_ref()
            .map_or_else(|| Some("null".to_owned()), Echo::json)
    }
}

impl<T: Echo> Echo for Vec<T> {
    fn json(&self) -> Option<String> {
        Some(format!(
            "[{}]",
            self.iter()
                .filter_map(Echo::json)
                .collect::<Vec<_>>()
                .join(",")
        ))
    }
}

impl<T: Echo> Echo for Box<T> {
    fn json(&self) -> Option<String> {
        self.as_ref().json()
    }
}

impl Echo for i32 {
    fn json(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Echo for bool {
    fn json(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Echo for f64 {
    /// As JavaScript writes it.
    fn json(&self) -> Option<String> {
        let text = format!("{self:e}");
        let (_, exponent) = text.split_once('e')?;
        Some(match exponent.parse::<i32>().ok()? {
            _ if *self == 0.0 => "0".to_owned(),
            21.. => text.replace('e', "e+"),
            -6..21 => self.to_string(),
            _ => text,
        })
    }
}

impl Echo for String {
    fn json(&self) -> Option<String> {
        Some(Value::from(self.as_str()).to_string())
    }
}

impl Echo for ID {
    fn json(&self) -> Option<String> {
        self.0.json()
    }
}

impl Echo for Role {
    fn json(&self) -> Option<String> {
        Some(format!("\"{}\"", format!("{self:?}").to_uppercase()))
    }
}

impl Echo for Shape {
    fn json(&self) -> Option<String> {
        Some(object(&[
            ("name", &self.name),
            ("size", &self.size),
            ("tags", &self.tags),
            ("role", &self.role),
            ("inner", &self.inner),
            ("ids", &self.ids),
        ]))
    }
}

impl Echo for By {
    fn json(&self) -> Option<String> {
        Some(match self {
            By::Id(id) => object(&[("id", id)]),
            By::Name(name) => object(&[("name", name)]),
            By::Shape(shape) => object(&[("shape", shape)]),
            By::Ids(ids) => object(&[("ids", ids)]),
        })
    }
}
