//! Columns in PostgreSQL's binary format.

use async_graphql::Value;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::json::Json;
use super::{Node as _, enum_name};
use crate::graphql::plan::{Leaf, NodeType};
use crate::sql::ColumnForm;
use svc_core::exact_json::{ExactNumber, is_plain, shorten, write_text};
use svc_core::scalar::{
    LeafError, big_integer, canonical, end_of_day, shortest_decimal, write_big_integer, write_date,
    write_float, write_instant, write_integer, write_time, write_value,
};
use svc_core::schema::ScalarKind;

/// 2000-01-01, the epoch of PostgreSQL's dates.
const EPOCH: NaiveDate = match NaiveDate::from_ymd_opt(2000, 1, 1) {
    Some(date) => date,
    None => NaiveDate::MIN,
};
/// 2000-01-01T00:00:00Z in microseconds since 1970.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The microseconds of a day: the value of `24:00:00`.
const END_OF_DAY: u64 = 86_400_000_000;

/// The value of one column of one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'a> {
    pub(crate) form: ColumnForm,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Column<'a> {
    /// Returns the document if the column has JSON.
    pub(crate) fn json(self) -> Option<Json<'a>> {
        match self.form {
            ColumnForm::Json => Some(Json::new(self.bytes)),
            // The first byte is the format's version.
            ColumnForm::Jsonb => Some(Json::of_jsonb(self.bytes.get(1..)?)),
            _ => None,
        }
    }

    fn text(self) -> Option<&'a str> {
        (self.form == ColumnForm::Text)
            .then(|| std::str::from_utf8(self.bytes).ok())
            .flatten()
    }

    fn integer(self) -> Option<i64> {
        Some(match self.form {
            ColumnForm::Int2 => i16::from_be_bytes(self.bytes.try_into().ok()?).into(),
            ColumnForm::Int4 => i32::from_be_bytes(self.bytes.try_into().ok()?).into(),
            ColumnForm::Int8 => i64::from_be_bytes(self.bytes.try_into().ok()?),
            _ => return None,
        })
    }

    fn required_integer(self) -> Result<i64, LeafError> {
        self.integer().ok_or_else(|| self.refuse("an integer"))
    }

    /// Returns the value of an `Int`.
    fn short_integer(self) -> Result<i32, LeafError> {
        let value = self.required_integer()?;
        i32::try_from(value).map_err(|_| {
            LeafError(format!(
                "Int cannot represent non 32-bit signed integer value: {value}"
            ))
        })
    }

    fn float(self) -> Option<f64> {
        match self.form {
            // As a double, a `float4` shows digits that PostgreSQL does not: 0.1 would become
            // 0.10000000149011612.
            ColumnForm::Float4 => Some(shortest_decimal(f32::from_be_bytes(
                self.bytes.try_into().ok()?,
            ))),
            ColumnForm::Float8 => Some(f64::from_be_bytes(self.bytes.try_into().ok()?)),
            // Exact for all integers that a double can represent.
            #[expect(clippy::cast_precision_loss, reason = "a Float is a double")]
            _ => self.integer().map(|value| value as f64),
        }
    }

    fn instant(self) -> Option<DateTime<Utc>> {
        let micros = i64::from_be_bytes(self.bytes.try_into().ok()?);
        // `infinity` and `-infinity` are the extreme values, beyond any calendar.
        DateTime::from_timestamp_micros(micros.checked_add(EPOCH_MICROS)?)
    }

    fn date(self) -> Option<NaiveDate> {
        let days = i32::from_be_bytes(self.bytes.try_into().ok()?);
        let distance = Days::new(days.unsigned_abs().into());
        if days < 0 {
            EPOCH.checked_sub_days(distance)
        } else {
            EPOCH.checked_add_days(distance)
        }
    }

    fn time(self) -> Option<NaiveTime> {
        let micros = u64::try_from(i64::from_be_bytes(self.bytes.try_into().ok()?)).ok()?;
        if micros == END_OF_DAY {
            return end_of_day();
        }

        let seconds = u32::try_from(micros / 1_000_000).ok()?;
        NaiveTime::from_num_seconds_from_midnight_opt(
            seconds,
            u32::try_from(micros % 1_000_000).ok()? * 1_000,
        )
    }

    /// Writes the value as a scalar or an enum.
    pub(crate) fn leaf(self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        if let Some(json) = self.json() {
            return json.leaf(leaf, out);
        }

        match leaf {
            Leaf::Scalar(kind) | Leaf::Node(NodeType { kind, .. }) => self.scalar(*kind, out),
            Leaf::Enum(values) => {
                let name = enum_name(values, self.text().ok_or_else(|| self.refuse("text"))?)?;
                out.push(b'"');
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
                Ok(())
            }
        }
    }

    /// Writes the value of a column without JSON as a scalar. Inlined for texts, which most values
    /// are.
    #[inline(always)]
    pub(crate) fn scalar(self, kind: ScalarKind, out: &mut Vec<u8>) -> Result<(), LeafError> {
        // Most texts are ASCII without escapes and need no check of their encoding.
        if self.form == ColumnForm::Text
            && matches!(kind, ScalarKind::String | ScalarKind::Id)
            && is_plain(self.bytes)
        {
            out.push(b'"');
            out.extend_from_slice(self.bytes);
            out.push(b'"');
            return Ok(());
        }

        self.checked_scalar(kind, out)
    }

    /// Writes any other value as a scalar.
    #[inline(never)]
    fn checked_scalar(self, kind: ScalarKind, out: &mut Vec<u8>) -> Result<(), LeafError> {
        use ScalarKind as K;

        if let Some(text) = self.text() {
            return self.scalar_of_text(kind, text, out);
        }

        match (kind, self.form) {
            (K::Int, _) => write_integer(out, self.short_integer()?.into()),
            (K::BigInt, _) => write_big_integer(out, self.required_integer()?.into()),
            (K::Float, _) => {
                write_float(out, self.float().ok_or_else(|| self.refuse("a number"))?)?;
            }
            (K::Boolean, ColumnForm::Bool) => {
                out.extend_from_slice(if self.bytes == [1] { b"true" } else { b"false" });
            }
            // An `ID` is sent as a string even if it is a number (GraphQL specification, section
            // 3.5.5).
            (K::Id | K::Decimal, ColumnForm::Int2 | ColumnForm::Int4 | ColumnForm::Int8) => {
                out.push(b'"');
                write_integer(out, self.required_integer()?);
                out.push(b'"');
            }
            (K::Uuid | K::Id | K::String, ColumnForm::Uuid) => {
                let value = Uuid::from_slice(self.bytes).map_err(|_| self.refuse("a UUID"))?;
                write_uuid(out, value);
            }
            (K::DateTime, ColumnForm::Instant) => {
                write_instant(
                    out,
                    self.instant()
                        .ok_or_else(|| self.beyond("an RFC 3339 date and time"))?,
                );
            }
            (K::Date, ColumnForm::Date) => {
                write_date(
                    out,
                    self.date()
                        .ok_or_else(|| self.beyond("a date as YYYY-MM-DD"))?,
                );
            }
            (K::Time, ColumnForm::Time) => write_time(
                out,
                self.time().ok_or_else(|| self.refuse("a time of day"))?,
            ),
            _ => return Err(self.refuse("a value of the field's type")),
        }

        Ok(())
    }

    /// Writes a text value; types without their own form here are also read as text.
    fn scalar_of_text(
        self,
        kind: ScalarKind,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), LeafError> {
        use ScalarKind as K;

        match kind {
            K::Float => {
                let value = text.parse().map_err(|_| self.refuse("a number"))?;
                write_float(out, value)
            }
            // A text column has a string; parsing it would change a text that happens to be JSON.
            K::Json => {
                write_text(out, text);
                Ok(())
            }
            K::Custom(custom) => {
                let value = (custom.recode)(Value::String(text.to_owned())).map_err(LeafError)?;
                write_value(out, &value)
            }
            // A `numeric` column arrives as text, and `5.00` is an integer there.
            K::Int => {
                let value = ExactNumber::of(text)
                    .as_integer()
                    .and_then(|value| i32::try_from(value).ok());
                write_integer(
                    out,
                    value.ok_or_else(|| self.refuse("a 32-bit integer"))?.into(),
                );
                Ok(())
            }
            K::BigInt => {
                let value = ExactNumber::of(text).as_integer().and_then(big_integer);
                write_big_integer(out, value.ok_or_else(|| self.refuse("a 64-bit integer"))?);
                Ok(())
            }
            K::Boolean => Err(self.refuse("a value of the field's type")),
            kind => canonical(kind, text, out),
        }
    }

    /// The error for a date or an instant beyond the range of the calendar.
    fn beyond(self, expected: &str) -> LeafError {
        let found = match self.bytes {
            // `infinity` is the largest value, `-infinity` the smallest.
            [0x7f, rest @ ..] if rest.iter().all(|byte| *byte == 0xff) => "\"infinity\"",
            [0x80, rest @ ..] if rest.iter().all(|byte| *byte == 0) => "\"-infinity\"",
            _ => "a year beyond 262142",
        };
        LeafError(format!("expected {expected}, found {found}"))
    }

    fn refuse(self, expected: &str) -> LeafError {
        match self.text() {
            Some(text) => LeafError(format!("expected {expected}, found {:?}", shorten(text))),
            None => LeafError(format!("expected {expected}, found another in the column")),
        }
    }
}

/// Writes a UUID as a JSON string, in lower case with hyphens.
fn write_uuid(out: &mut Vec<u8>, value: Uuid) {
    // Appended at once, because each part would check the capacity.
    let mut text = [b'"'; Hyphenated::LENGTH + 2];
    value.hyphenated().encode_lower(&mut text[1..]);
    out.extend_from_slice(&text);
}
