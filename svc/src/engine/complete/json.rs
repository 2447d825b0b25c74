//! JSON documents as PostgreSQL writes them, projected without building a tree.

use async_graphql::Value;

use super::{Node, Nulled, Walk, enum_name, key, typename, value};
use crate::engine::env::Env;
use crate::engine::path::Path;
use crate::engine::plan::{Children, Leaf, PlanField, PlanKind, Selection};
use crate::scalar::{
    LeafError, canonical, shorten, write_big_integer, write_float, write_integer, write_text, write_value,
};
use crate::schema::ScalarKind;

/// One JSON value; the text begins and ends with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'a>(&'a [u8]);

const NULL: Json<'static> = Json(b"null");

impl<'a> Json<'a> {
    /// The value in `text`, which is JSON that PostgreSQL has checked.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self(text.trim_ascii())
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Visits keys and values in order until `visit` returns false; false when this is no object.
    pub(crate) fn entries(self, mut visit: impl FnMut(&'a [u8], Json<'a>) -> bool) -> bool {
        if self.0.first() != Some(&b'{') {
            return false;
        }
        let mut at = skip_space(self.0, 1);
        while self.0.get(at) == Some(&b'"') {
            let end = skip_string(self.0, at);
            let name = &self.0[at + 1..end - 1];
            // Past the colon.
            let start = skip_space(self.0, skip_space(self.0, end) + 1);
            let end = skip_value(self.0, start);
            if !visit(name, Json(&self.0[start..end])) {
                return true;
            }
            at = skip_space(self.0, end);
            if self.0.get(at) == Some(&b',') {
                at = skip_space(self.0, at + 1);
            }
        }
        true
    }

    /// The values of the stored fields of a selection, in its order.
    pub(crate) fn slots(self, selection: &Selection) -> Vec<Json<'a>> {
        let mut slots = vec![NULL; selection.fields.len()];
        let mut missing = selection.fields.len();
        self.entries(|name, json| {
            for (slot, field) in slots.iter_mut().zip(&selection.fields) {
                if let PlanKind::Stored { stored, .. } = field.kind
                    && key_is(name, stored)
                {
                    *slot = json;
                    missing -= 1;
                }
            }
            missing > 0
        });
        slots
    }

    /// The value under one key.
    pub(crate) fn get(self, wanted: &str) -> Option<Json<'a>> {
        let mut found = None;
        self.entries(|name, json| {
            if key_is(name, wanted) {
                found = Some(json);
            }
            found.is_none()
        });
        found
    }

    /// The text of a JSON string.
    pub(crate) fn text(self) -> Option<std::borrow::Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if memchr::memchr(b'\\', inner).is_none() {
            return std::str::from_utf8(inner).ok().map(std::borrow::Cow::Borrowed);
        }
        serde_json::from_slice::<String>(self.0).ok().map(std::borrow::Cow::Owned)
    }

    fn number(self) -> Option<&'a str> {
        let first = *self.0.first()?;
        (first == b'-' || first.is_ascii_digit()).then(|| std::str::from_utf8(self.0).ok()).flatten()
    }

    fn refuse(self, expected: &str) -> LeafError {
        LeafError(format!("expected {expected}, found {}", shorten(&String::from_utf8_lossy(self.0))))
    }

    fn scalar(self, kind: ScalarKind, out: &mut Vec<u8>) -> Result<(), LeafError> {
        use ScalarKind as K;
        match kind {
            K::Int => {
                let value = self.number().and_then(integer).ok_or_else(|| self.refuse("an integer"))?;
                let value = i32::try_from(value).map_err(|_| self.refuse("a 32-bit integer"))?;
                write_integer(out, value.into());
            }
            K::BigInt => match self.number().and_then(integer) {
                Some(value) => write_big_integer(out, value.into()),
                None => return self.quoted(kind, "a 64-bit integer", out),
            },
            K::Float => {
                let value = self.number().and_then(|text| text.parse().ok()).ok_or_else(|| self.refuse("a number"))?;
                write_float(out, value)?;
            }
            K::Boolean if matches!(self.0, b"true" | b"false") => out.extend_from_slice(self.0),
            K::Boolean => return Err(self.refuse("true or false")),
            K::Id => match self.number() {
                Some(text) if integer(text).is_some() => write_text(out, text),
                _ => return self.quoted(kind, "an ID", out),
            },
            K::Decimal => match self.number() {
                Some(text) => canonical(kind, text, out)?,
                None => return self.quoted(kind, "a decimal number", out),
            },
            K::String => return self.quoted(kind, "a string", out),
            K::Uuid => return self.quoted(kind, "a UUID", out),
            K::DateTime => return self.quoted(kind, "an RFC 3339 date and time", out),
            K::Date => return self.quoted(kind, "a date", out),
            K::Time => return self.quoted(kind, "a time", out),
            K::Json => {
                let value: serde_json::Value = serde_json::from_slice(self.0).map_err(|_| self.refuse("JSON"))?;
                serde_json::to_writer(out, &value).map_err(|error| LeafError(error.to_string()))?;
            }
            K::Custom(custom) => {
                let value: Value = serde_json::from_slice(self.0).map_err(|_| self.refuse("JSON"))?;
                write_value(out, &(custom.recode)(value).map_err(LeafError)?)?;
            }
        }
        Ok(())
    }

    /// A scalar whose JSON form is a string.
    fn quoted(self, kind: ScalarKind, expected: &str, out: &mut Vec<u8>) -> Result<(), LeafError> {
        let text = self.text().ok_or_else(|| self.refuse(expected))?;
        canonical(kind, &text, out)
    }
}

impl Node for Json<'_> {
    fn is_null(&self) -> bool {
        self.0 == b"null"
    }

    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError> {
        match leaf {
            Leaf::Scalar(kind) => self.scalar(*kind, out),
            Leaf::Enum(values) => {
                let text = self.text().ok_or_else(|| self.refuse("a string"))?;
                out.push(b'"');
                out.extend_from_slice(enum_name(values, &text)?.as_bytes());
                out.push(b'"');
                Ok(())
            }
        }
    }

    fn each(&self, mut visit: impl FnMut(usize, Self) -> Result<(), Nulled>) -> Option<Result<(), Nulled>> {
        if self.0.first() != Some(&b'[') {
            return None;
        }
        let mut at = skip_space(self.0, 1);
        let mut index = 0;
        while at < self.0.len() && self.0[at] != b']' {
            let end = skip_value(self.0, at);
            if let Err(nulled) = visit(index, Json(&self.0[at..end])) {
                return Some(Err(nulled));
            }
            index += 1;
            at = skip_space(self.0, end);
            if self.0.get(at) == Some(&b',') {
                at = skip_space(self.0, at + 1);
            }
        }
        Some(Ok(()))
    }

    fn selection<'s>(&self, env: &Env<'_>, field: &'s PlanField) -> Result<&'s Selection, String> {
        if self.0.first() != Some(&b'{') {
            return Err(self.refuse("an object").0);
        }
        match &field.children {
            Children::One(selection) => Ok(selection),
            children => {
                let name = self.get("__typename").and_then(Json::text);
                let name =
                    name.ok_or_else(|| "the stored object has no `__typename` to tell its type by".to_owned())?;
                let index = env.model.type_named(&name).map(|(index, _)| index);
                let selection = index.and_then(|index| children.of(index));
                selection.map(AsRef::as_ref).ok_or_else(|| format!("a stored `{}` cannot stand here", shorten(&name)))
            }
        }
    }

    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Nulled> {
        let slots = self.slots(selection);
        for (index, (field, slot)) in selection.fields.iter().zip(slots).enumerate() {
            key(out, index, field);
            match field.kind {
                PlanKind::Typename => typename(out, selection),
                _ => value(walk, field, &field.ty, &slot, &path.key(&field.key), out)?,
            }
        }
        Ok(())
    }
}

fn integer(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| crate::scalar::integer(&text.parse().ok()?))
}

/// Whether a raw key is `wanted`; keys with escapes are decoded, which is rare.
fn key_is(raw: &[u8], wanted: &str) -> bool {
    raw == wanted.as_bytes()
        || (memchr::memchr(b'\\', raw).is_some()
            && serde_json::from_slice::<String>(&[b"\"", raw, b"\""].concat()).is_ok_and(|name| name == wanted))
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The end of the string that begins at `at`, past its quote.
fn skip_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// The end of the value that begins at `at`.
fn skip_value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => skip_string(bytes, at),
        Some(b'{' | b'[') => {
            let mut depth = 0usize;
            let mut at = at;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at = skip_string(bytes, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            bytes.len()
        }
        _ => {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest.iter().position(|b| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace());
            at + length.unwrap_or(rest.len())
        }
    }
}
