//! A single-pass parser for JSON texts.

use super::scan::{is_plain, string_end};
use super::{ExactJson, ExactNumber, Fields};

/// The maximum nesting depth, as in `serde_json`.
const DEEPEST: usize = 128;

/// The error for a text that is not JSON, with the byte offset of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {0}")]
pub struct Malformed(pub usize);

pub(super) fn read(text: &str) -> Result<ExactJson, Malformed> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let value = reader.value(DEEPEST)?;
    reader.space();

    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(Malformed(reader.at))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Consumes a required character.
    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed(self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<ExactJson, Malformed> {
        // Each level is a recursive call, so a deeply nested text would overflow the stack without
        // a limit.
        let deeper = || depth.checked_sub(1).ok_or(Malformed(self.at));
        match self.peek() {
            Some(b'{') => self.object(deeper()?),
            Some(b'[') => self.array(deeper()?),
            Some(b'"') => self.string().map(ExactJson::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<ExactJson, Malformed> {
        let mut fields = Fields::default();
        self.items(b'}', |reader| {
            let name = reader.string()?;
            reader.space();
            reader.expect(b':')?;
            reader.space();
            fields.insert(name, reader.value(depth)?);
            Ok(())
        })?;

        Ok(ExactJson::Object(fields))
    }

    fn array(&mut self, depth: usize) -> Result<ExactJson, Malformed> {
        let mut items = Vec::new();
        self.items(b']', |reader| {
            items.push(reader.value(depth)?);
            Ok(())
        })?;
        Ok(ExactJson::Array(items))
    }

    /// Reads comma-separated items from an opening bracket up to `close`.
    fn items(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }

        loop {
            // After a comma an item is required, so a trailing comma is an error.
            item(self)?;
            self.space();
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(());
            }
            self.expect(b',')?;
            self.space();
        }
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(Malformed(start));
        }

        self.at = string_end(self.text.as_bytes(), start).0;
        let quoted = &self.text[start..self.at];

        // serde_json decodes escapes and rejects control characters; a text with neither is copied
        // as it is.
        match quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(inside) if is_plain(inside.as_bytes()) => Ok(inside.to_owned()),
            _ => serde_json::from_str(quoted).map_err(|_| Malformed(start)),
        }
    }

    fn number(&mut self) -> Result<ExactJson, Malformed> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }

        match self.peek() {
            // RFC 8259, section 6: no digit follows a leading zero. A digit here is rejected as the
            // next token.
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }

        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }

        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }

        Ok(ExactJson::Number(ExactNumber::of(
            &self.text[start..self.at],
        )))
    }

    /// Consumes at least one digit.
    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }

        if self.at > start {
            Ok(())
        } else {
            Err(Malformed(self.at))
        }
    }

    fn word(&mut self) -> Result<ExactJson, Malformed> {
        let words = [
            ("null", ExactJson::Null),
            ("true", ExactJson::Bool(true)),
            ("false", ExactJson::Bool(false)),
        ];

        let rest = &self.text.as_bytes()[self.at..];

        // A longer word such as `nulls` fails at its next letter, because only a separator may
        // follow a value.
        let found = words
            .into_iter()
            .find(|(word, _)| rest.starts_with(word.as_bytes()));
        let (word, value) = found.ok_or(Malformed(self.at))?;
        self.at += word.len();

        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn valid_json_is_read_with_all_digits() {
        for text in [
            "null",
            " {\"a\" : [1, 2.50 ,-0.1e-7, \"\\u00e4\\n\"], \"b\":{}}\n",
            "[[],[[]],{\"\":true}]",
            "\"\\ud83d\\ude00 ü\"",
            "-0",
            "[1e5,1E+5]",
        ] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(read(text).unwrap().nearest().unwrap(), value, "{text}");
        }

        for text in [
            "1e400",
            "0.12345678901234567890",
            "123456789012345678901234567890",
            "1.50",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_json_is_refused_at_the_position_of_the_error() {
        let texts = [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "tru",
            "nulls",
            "\"a",
            "\"\t\"",
            "\"\\ud800\"",
            "{\"a\" 1}",
            "[",
            "1 1",
            "NaN",
        ];

        for text in texts {
            assert!(read(text).is_err(), "{text}");
            assert!(
                serde_json::from_str::<serde_json::Value>(text).is_err(),
                "{text}"
            );
        }

        assert_eq!(read("[1, x]").unwrap_err().0, 4);
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(read(&deep(127)).is_ok());
        assert!(read(&deep(129)).is_err());

        assert!(read(&"[".repeat(1_000_000)).is_err());
    }
}
