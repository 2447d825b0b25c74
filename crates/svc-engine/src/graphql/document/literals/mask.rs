//! The text of a document with marks in place of the literals in its arguments, found in one pass
//! over the bytes.
//!
//! The marks are control characters, which no valid document has outside of strings and comments.
//! A text that contains one is not masked. A text with a number or string directly before another
//! token is not masked either: it is rare, and apollo's parser may read it differently.

use apollo_compiler::ast;

use crate::graphql::error::Span;

/// The maximum number of literals; a document with more of them is cached with its literals.
pub(super) const MAX_LITERALS: usize = 512;

/// A text and its literals.
#[derive(Debug)]
pub(in crate::graphql::document) struct Masked<'t> {
    pub(super) text: &'t str,
    /// The text with a mark in place of each literal.
    pub(in crate::graphql::document) key: String,
    literals: Vec<Masking>,
}

#[derive(Debug, Clone, Copy)]
struct Masking {
    span: Span,
    kind: Kind,
}

/// The kind of a literal, and its mark: documents with literals of different kinds have different
/// keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int = 1,
    Float = 2,
    Text = 3,
}

impl<'t> Masked<'t> {
    /// Masks a text; `None` if it has no literals, or cannot be masked.
    pub(in crate::graphql::document) fn of(text: &'t str) -> Option<Self> {
        let literals = Scan::of(text.as_bytes()).literals()?;
        let marks = memchr::memchr3(
            Kind::Int as u8,
            Kind::Float as u8,
            Kind::Text as u8,
            text.as_bytes(),
        );
        if literals.is_empty() || marks.is_some() {
            return None;
        }

        let mut masked = Self {
            text,
            key: String::new(),
            literals,
        };
        masked.key = masked.key_where(|_| true);

        Some(masked)
    }

    /// The text with marks in place of some literals, by their numbers.
    pub(super) fn key_where(&self, is_masked: impl Fn(usize) -> bool) -> String {
        let mut key = String::with_capacity(self.text.len());
        let mut end = 0;

        for (_, literal) in self
            .literals
            .iter()
            .enumerate()
            .filter(|(index, _)| is_masked(*index))
        {
            key.push_str(&self.text[end..literal.span.start]);
            key.push(char::from(literal.kind as u8));
            end = literal.span.end;
        }
        key.push_str(&self.text[end..]);

        key
    }

    pub(super) fn len(&self) -> usize {
        self.literals.len()
    }

    pub(super) fn spans(&self) -> Box<[Span]> {
        self.literals.iter().map(|literal| literal.span).collect()
    }

    /// The number of the literal that begins at an offset.
    pub(super) fn starting_at(&self, offset: usize) -> Option<usize> {
        self.literals
            .binary_search_by_key(&offset, |literal| literal.span.start)
            .ok()
    }

    /// The literal with this number, as written.
    pub(super) fn written(&self, index: usize) -> &'t str {
        let Span { start, end } = self.literals[index].span;
        &self.text[start..end]
    }

    /// The value of a literal; `None` for a string with escapes that are not decoded here.
    pub(super) fn value(&self, index: usize) -> Option<ast::Value> {
        let written = self.written(index);
        Some(match self.literals[index].kind {
            Kind::Int => ast::Value::Int(ast::IntValue::new_parsed(written)),
            Kind::Float => ast::Value::Float(ast::FloatValue::new_parsed(written)),
            Kind::Text => ast::Value::String(unescaped(written)?),
        })
    }
}

/// The text of a string. Escapes of surrogates and with braces are left to the parser.
fn unescaped(written: &str) -> Option<String> {
    let mut rest = written.get(1..written.len() - 1)?;
    let mut out = String::with_capacity(rest.len());

    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, escape) = rest.split_at(at);
        let (decoded, length) = match escape.as_bytes().get(1)? {
            b'"' => ('"', 2),
            b'\\' => ('\\', 2),
            b'/' => ('/', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            b'u' => (code_point(escape.get(2..6)?)?, 6),
            _ => return None,
        };
        out.push_str(before);
        out.push(decoded);
        rest = escape.get(length..)?;
    }
    out.push_str(rest);

    Some(out)
}

/// The character of four hexadecimal digits; `None` for a surrogate.
fn code_point(digits: &str) -> Option<char> {
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
        .and_then(char::from_u32)
}

/// One pass over the bytes of a document.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The open braces outside of parentheses.
    depth: usize,
    within: Within,
    before: Before,
}

/// The parentheses around a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    None,
    /// The arguments of a field.
    Arguments,
    /// The arguments of a directive, or the variables of an operation.
    Others,
}

/// The token before an opening parenthesis: it decides whether arguments follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    At,
    /// The name of a directive.
    Directive,
    Other,
}

impl<'t> Scan<'t> {
    fn of(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            depth: 0,
            within: Within::None,
            before: Before::Other,
        }
    }

    /// The literals in arguments of fields; `None` if the text cannot be masked.
    fn literals(mut self) -> Option<Vec<Masking>> {
        let mut literals = Vec::new();
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            let kind = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' => {
                    self.at += 1;
                    continue;
                }
                b'#' => {
                    self.at = self.line_end();
                    continue;
                }
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                    self.name();
                    continue;
                }
                b'"' if self.bytes[start..].starts_with(b"\"\"\"") => {
                    self.at = self.block_end()?;
                    None
                }
                b'"' => {
                    self.at = self.text_end()?;
                    Some(Kind::Text)
                }
                b'-' | b'0'..=b'9' => Some(self.number()?),
                _ => {
                    self.mark(byte);
                    continue;
                }
            };

            self.before = Before::Other;
            if let Some(kind) = kind.filter(|_| self.within == Within::Arguments) {
                let end = self.at;
                literals.push(Masking {
                    span: Span { start, end },
                    kind,
                });
            }

            if literals.len() > MAX_LITERALS || !self.is_separated() {
                return None;
            }
        }

        Some(literals)
    }

    fn name(&mut self) {
        self.at = self.after(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        self.before = match self.before {
            Before::At => Before::Directive,
            _ => Before::Other,
        };
    }

    /// Moves past any other byte.
    fn mark(&mut self, byte: u8) {
        match byte {
            b'(' if self.before == Before::Directive || self.depth == 0 => {
                self.within = Within::Others;
            }
            b'(' => self.within = Within::Arguments,
            b')' => self.within = Within::None,
            b'{' if self.within == Within::None => self.depth += 1,
            b'}' if self.within == Within::None => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }

        self.before = if byte == b'@' {
            Before::At
        } else {
            Before::Other
        };
        self.at += 1;
    }

    /// Moves past a number.
    fn number(&mut self) -> Option<Kind> {
        let mut kind = Kind::Int;
        self.skip(b"-");
        if !self.skip(b"0") {
            self.digits()?;
        }

        if self.skip(b".") {
            self.digits()?;
            kind = Kind::Float;
        }

        if self.skip(b"eE") {
            self.skip(b"+-");
            self.digits()?;
            kind = Kind::Float;
        }

        Some(kind)
    }

    /// Moves past one or more digits.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        self.at = self.after(|byte| byte.is_ascii_digit());
        (self.at > start).then_some(())
    }

    /// Moves past a byte if it is one of these.
    fn skip(&mut self, any: &[u8]) -> bool {
        let found = self
            .bytes
            .get(self.at)
            .is_some_and(|byte| any.contains(byte));
        self.at += usize::from(found);
        found
    }

    /// Whether the end of a literal is recognized as such by every lexer.
    fn is_separated(&self) -> bool {
        matches!(
            self.bytes.get(self.at),
            Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b')' | b']' | b'}' | b'#')
        )
    }

    fn line_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        memchr::memchr2(b'\n', b'\r', rest).map_or(self.bytes.len(), |length| self.at + length)
    }

    /// The end of a string; `None` if it is not closed on its line.
    fn text_end(&self) -> Option<usize> {
        let mut at = self.at + 1;
        loop {
            at += memchr::memchr3(b'"', b'\\', b'\n', self.bytes.get(at..)?)?;
            match self.bytes[at] {
                b'\\' => at += 2,
                b'"' => break,
                _ => return None,
            }
        }

        let has_return = memchr::memchr(b'\r', &self.bytes[self.at..at]).is_some();
        (!has_return).then_some(at + 1)
    }

    /// The end of a block string; `None` if it is not closed.
    fn block_end(&self) -> Option<usize> {
        let mut at = self.at + 3;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.bytes.get(at..)?)?;
            let rest = &self.bytes[at..];
            at += match rest {
                // A backslash escapes only a triple quote (GraphQL specification, section 2.9.4).
                [b'\\', b'"', b'"', b'"', ..] => 4,
                [b'"', b'"', b'"', ..] => return Some(at + 3),
                _ => 1,
            };
        }
    }

    /// The position of the first byte from here on that does not match.
    fn after(&self, matches: impl Fn(u8) -> bool) -> usize {
        self.bytes[self.at..]
            .iter()
            .position(|byte| !matches(*byte))
            .map_or(self.bytes.len(), |length| self.at + length)
    }
}
