//! The text of a request, and its offsets.

/// A range of bytes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The text that a client sent. Its document may have been prepared from a text with other
/// literals, which have other lengths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceText<'a> {
    pub(crate) text: &'a str,
    /// The literals of the prepared text and of this one, in the same order; `None` if the texts
    /// are the same.
    literals: Option<(&'a [Span], &'a [Span])>,
}

impl<'a> SourceText<'a> {
    /// The text that the document was prepared from.
    pub(crate) fn prepared(text: &'a str) -> Self {
        Self {
            text,
            literals: None,
        }
    }

    /// A text that differs from the prepared one in its literals alone.
    pub(crate) fn shared(text: &'a str, prepared: &'a [Span], sent: &'a [Span]) -> Self {
        Self {
            text,
            literals: Some((prepared, sent)),
        }
    }

    /// The offset in this text for an offset in the document.
    pub(crate) fn offset(&self, offset: usize) -> usize {
        let Some((prepared, sent)) = self.literals else {
            return offset;
        };

        let before = prepared.partition_point(|literal| literal.end <= offset);
        match before.checked_sub(1) {
            None => offset,
            Some(last) => offset - prepared[last].end + sent[last].end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SourceText, Span};

    fn spans(text: &str) -> Vec<Span> {
        let numbers = text.match_indices(|c: char| c.is_ascii_digit());
        let mut spans: Vec<Span> = Vec::new();
        for (start, digit) in numbers {
            let end = start + digit.len();
            match spans.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => spans.push(Span { start, end }),
            }
        }
        spans
    }

    #[test]
    fn offsets_move_with_the_literals_before_them() {
        let (prepared, sent) = ("{a(b:1,c:234)d(e:5)f}", "{a(b:12345,c:6)d(e:78)f}");
        let (before, after) = (spans(prepared), spans(sent));
        let source = SourceText::shared(sent, &before, &after);
        for name in ["a", "b", "c", "d", "e", "f", "}"] {
            let offset = source.offset(prepared.find(name).unwrap());
            assert_eq!(Some(offset), sent.find(name), "{name}");
        }
        assert_eq!(SourceText::prepared(prepared).offset(9), 9);
    }
}
