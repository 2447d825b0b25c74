//! JSON documents as written by PostgreSQL, projected without building a tree.

mod compact;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use compact::compact;
pub(crate) use scan::field_bounds;
use scan::{key_is, past, past_key, value_end};
use smallvec::SmallVec;

use super::{Node, PropagatedNull, Walk, enum_name, key, typename, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Children, Keys, Leaf, NodeType, PlanField, PlanKind, Selection};
use crate::graphql::response::Path;
use svc_core::exact_json::{
    ExactJson, ExactNumber, plain_decimal, shorten, string_end, write_text,
};
use svc_core::scalar::{
    CustomScalar, LeafError, big_integer, canonical, is_escaped_once, is_integer,
    write_big_integer, write_canonical, write_float, write_integer, write_value,
};
use svc_core::schema::ScalarKind;

/// One JSON value, without text before or after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'a> {
    text: &'a [u8],
    /// `true` only if the value is an ASCII string without escapes, or not a string.
    plain: bool,
    /// Whether objects have no duplicate keys.
    unique: bool,
}

/// The values of some keys of an object, in the order of the keys.
pub(super) type Slots<'a> = SmallVec<[Json<'a>; 16]>;

impl<'a> Json<'a> {
    pub(super) const NULL: Self = Self {
        text: b"null",
        plain: true,
        unique: true,
    };

    /// The value in `text`, which is JSON validated by PostgreSQL.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self {
            text: text.trim_ascii(),
            plain: false,
            unique: false,
        }
    }

    /// The value in `text`, which PostgreSQL wrote from `jsonb`.
    pub(crate) fn of_jsonb(text: &'a [u8]) -> Self {
        Self {
            text,
            plain: false,
            unique: true,
        }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// Returns the value that starts at `at`, and the position after it and a comma.
    fn part(self, at: usize) -> (Self, usize) {
        let (end, plain) = value_end(self.text, at);
        (
            Self {
                text: &self.text[at..end],
                plain,
                ..self
            },
            past(self.text, end, b','),
        )
    }

    /// Returns the key that starts at `at` including its quotes, whether it is plain, and the start
    /// of its value.
    fn key(self, at: usize) -> Option<(&'a [u8], bool, usize)> {
        if self.text.get(at) != Some(&b'"') {
            return None;
        }
        let (end, plain) = string_end(self.text, at);
        Some((&self.text[at..end], plain, past(self.text, end, b':')))
    }

    /// Returns the values of keys in an object. The last of duplicate keys counts, as in
    /// PostgreSQL.
    pub(super) fn slots(self, keys: &Keys) -> Slots<'a> {
        self.find(&keys.names, keys.literal)
    }

    fn find(self, names: &[&str], literal: bool) -> Slots<'a> {
        let mut slots = SmallVec::from_elem(Self::NULL, names.len());
        let mut missing = if self.text.first() == Some(&b'{') {
            names.len()
        } else {
            0
        };

        let (mut at, mut next) = (past(self.text, 0, b'{'), 0);
        while missing > 0 {
            // One comparison at the expected place replaces the scan of the key and the search for
            // its name.
            let expected = names.get(next).filter(|_| literal);
            let expected = expected.and_then(|name| Some((next, past_key(self.text, at, name)?)));
            let (found, start) = match expected {
                Some((found, start)) => (Some(found), start),
                None => {
                    let Some((key, plain, start)) = self.key(at) else {
                        break;
                    };
                    (
                        names.iter().position(|name| key_is(key, plain, name)),
                        start,
                    )
                }
            };

            let (value, following) = self.part(start);
            at = following;

            if let Some(found) = found {
                slots[found] = value;
                next = found + 1;

                // `json` may repeat a key, and a later value replaces the earlier one, so an object
                // of `json` is read to its end.
                missing -= usize::from(self.unique);
            }
        }

        slots
    }

    /// Returns the value of one key.
    pub(crate) fn get(self, wanted: &str) -> Option<Self> {
        Some(self.find(&[wanted], false)[0]).filter(|found| !found.is_null())
    }

    /// The JSON string without its quotes, still escaped.
    fn inside(self) -> Option<&'a [u8]> {
        self.text.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// The decoded text of a JSON string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        if self.plain || memchr::memchr(b'\\', inside).is_none() {
            return std::str::from_utf8(inside).ok().map(Cow::Borrowed);
        }
        serde_json::from_slice::<String>(self.text)
            .ok()
            .map(Cow::Owned)
    }

    fn number(self) -> Option<&'a str> {
        let first = *self.text.first()?;
        (first == b'-' || first.is_ascii_digit())
            .then(|| std::str::from_utf8(self.text).ok())
            .flatten()
    }

    fn refuse(self, expected: &str) -> LeafError {
        LeafError(format!(
            "expected {expected}, found {}",
            shorten(&String::from_utf8_lossy(self.text))
        ))
    }

    fn scalar(self, kind: ScalarKind, out: &mut Vec<u8>) -> Result<(), LeafError> {
        use ScalarKind as K;

        if self.is_written(kind) {
            out.extend_from_slice(self.text);
            return Ok(());
        }

        match kind {
            K::Int => {
                let value = self
                    .number()
                    .and_then(integer)
                    .ok_or_else(|| self.refuse("an integer"))?;
                let value = i32::try_from(value).map_err(|_| self.refuse("a 32-bit integer"))?;
                write_integer(out, value.into());
            }
            K::BigInt => match self.number().and_then(integer).and_then(big_integer) {
                Some(value) => write_big_integer(out, value),
                None => return self.quoted(kind, "a 64-bit integer", out),
            },
            K::Float => {
                let value = self
                    .number()
                    .and_then(|text| text.parse().ok())
                    .ok_or_else(|| self.refuse("a number"))?;
                write_float(out, value)?;
            }
            K::Boolean if matches!(self.text, b"true" | b"false") => {
                out.extend_from_slice(self.text);
            }
            K::Boolean => return Err(self.refuse("true or false")),
            K::Id => match self.number() {
                Some(text) if integer(text).is_some() => write_text(out, text),
                _ => return self.quoted(kind, "an ID", out),
            },
            K::Decimal => match self.number() {
                // JSON allows exponents, which the canonical form of a decimal does not have.
                Some(text) => {
                    let plain =
                        plain_decimal(text).ok_or_else(|| self.refuse("a decimal number"))?;
                    canonical(kind, &plain, out)?;
                }
                None => return self.quoted(kind, "a decimal number", out),
            },
            K::String => return self.quoted(kind, "a string", out),
            K::Uuid => return self.quoted(kind, "a UUID", out),
            K::DateTime => return self.quoted(kind, "an RFC 3339 date and time", out),
            K::Date => return self.quoted(kind, "a date", out),
            K::Time => return self.quoted(kind, "a time", out),
            K::Json => self.document(out)?,
            K::Custom(custom) => self.custom(custom, out)?,
        }

        Ok(())
    }

    /// Writes the scalar `JSON`.
    fn document(self, out: &mut Vec<u8>) -> Result<(), LeafError> {
        let text = std::str::from_utf8(self.text).map_err(|_| self.refuse("JSON"))?;

        // `jsonb` has distinct keys and differs from the sent form only in white space; `json` has
        // to be parsed.
        if self.unique {
            compact(text, out);
        } else {
            ExactJson::read(text)
                .map_err(|_| self.refuse("JSON"))?
                .write(out);
        }

        Ok(())
    }

    /// Writes a user-defined scalar.
    fn custom(self, scalar: CustomScalar, out: &mut Vec<u8>) -> Result<(), LeafError> {
        let value = std::str::from_utf8(self.text)
            .ok()
            .and_then(|text| ExactJson::read(text).ok());
        let value = value
            .and_then(|value| value.nearest_value().ok())
            .ok_or_else(|| self.refuse("JSON"))?;

        write_value(out, &(scalar.recode)(value).map_err(LeafError)?)
    }

    /// Whether the text is already in the scalar's canonical form.
    fn is_written(self, kind: ScalarKind) -> bool {
        match kind {
            // This many digits always fit; a double is written without an exponent up to 10^15.
            ScalarKind::Int => is_integer(self.text, 9),
            ScalarKind::BigInt | ScalarKind::Float => is_integer(self.text, 15),
            ScalarKind::String | ScalarKind::Id => self.inside().is_some_and(|inside| {
                self.plain || (is_escaped_once(inside) && std::str::from_utf8(inside).is_ok())
            }),
            _ => false,
        }
    }

    /// Writes a scalar whose JSON form is a string.
    fn quoted(self, kind: ScalarKind, expected: &str, out: &mut Vec<u8>) -> Result<(), LeafError> {
        if self
            .inside()
            .is_some_and(|inside| write_canonical(kind, inside, out))
        {
            return Ok(());
        }
        let text = self.text().ok_or_else(|| self.refuse(expected))?;
        canonical(kind, &text, out)
    }
}

impl Node for Json<'_> {
    fn is_null(&self) -> bool {
        self.text == b"null"
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        match leaf {
            Leaf::Scalar(kind) | Leaf::Node(NodeType { kind, .. }) => self.scalar(*kind, out),
            Leaf::Enum(values) => {
                let text = self.text().ok_or_else(|| self.refuse("a string"))?;
                out.push(b'"');
                out.extend_from_slice(enum_name(values, &text)?.as_bytes());
                out.push(b'"');
                Ok(())
            }
        }
    }

    fn each(
        &self,
        mut visit: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>> {
        if self.text.first() != Some(&b'[') {
            return None;
        }

        let (mut at, mut index) = (past(self.text, 0, b'['), 0);
        while at < self.text.len() && self.text[at] != b']' {
            let (item, following) = self.part(at);
            if let Err(null) = visit(index, item) {
                return Some(Err(null));
            }

            // Text that is not JSON would otherwise be read at the same place forever.
            if following == at {
                break;
            }
            (at, index) = (following, index + 1);
        }

        Some(Ok(()))
    }

    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String> {
        if self.text.first() != Some(&b'{') {
            return Err("expected an object".to_owned());
        }

        match &field.children {
            Children::One(selection) => Ok(selection),
            children => {
                let name = self.get("__typename").and_then(Json::text);
                let name = name.ok_or_else(|| {
                    "the stored object has no `__typename` to tell its type by".to_owned()
                })?;
                let index = cx.model.type_named(&name).map(|(index, _)| index);
                let selection = index.and_then(|index| children.of(index));
                let why = || "the stored `__typename` names no type that can stand here".to_owned();
                selection.map(AsRef::as_ref).ok_or_else(why)
            }
        }
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let slots = self.slots(&selection.keys);
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            if matches!(field.kind, PlanKind::Typename) {
                typename(out, selection);
                continue;
            }

            let slot = selection
                .keys
                .of_field(index)
                .and_then(|slot| slots.get(slot))
                .unwrap_or(&Self::NULL);

            value(walk, field, &field.ty, slot, &path.key(&field.key), out)?;
        }

        Ok(())
    }
}

fn integer(text: &str) -> Option<i128> {
    // The common form first; `5.0` and `5e2` are integers as well.
    text.parse()
        .ok()
        .or_else(|| ExactNumber::of(text).as_integer())
}
