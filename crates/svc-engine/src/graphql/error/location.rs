//! Locations in a document.

use std::cell::OnceCell;

/// The maximum number of locations per error: a field can be selected thousands of times.
pub(crate) const MAX_LOCATIONS: usize = 10;

/// A line and a column, both from 1; columns count UTF-16 units, as graphql-js does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Location {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The number of bytes in a block, and the maximum number of bytes read to find a location once the
/// index is built.
const BLOCK: usize = 1024;

/// An index of a document's locations, built on first use. It marks blocks of bytes rather than
/// lines, so that neither one long line nor a million short ones make it slow or large.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    /// The location of the first byte of each block.
    blocks: OnceCell<Vec<Location>>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            blocks: OnceCell::new(),
        }
    }

    /// The location of a byte offset.
    pub(crate) fn locate(&self, offset: usize) -> Location {
        let offset = offset.min(self.text.len());
        let blocks = self.blocks.get_or_init(|| self.blocks());
        let block = (offset / BLOCK).min(blocks.len() - 1);
        self.walk(blocks[block], block * BLOCK, offset)
    }

    fn blocks(&self) -> Vec<Location> {
        let mut blocks = vec![Location { line: 1, column: 1 }];
        for start in (BLOCK..=self.text.len()).step_by(BLOCK) {
            blocks.push(self.walk(blocks[blocks.len() - 1], start - BLOCK, start));
        }
        blocks
    }

    /// The location of the byte at `end`, from the location of the byte at `start`.
    fn walk(&self, start_at: Location, start: usize, end: usize) -> Location {
        let bytes = self.text.as_bytes();
        let Location {
            mut line,
            mut column,
        } = start_at;
        for (index, byte) in bytes.iter().enumerate().take(end).skip(start) {
            match byte {
                // A carriage return and a line feed are one line end, which the line feed counts.
                b'\r' if bytes.get(index + 1) == Some(&b'\n') => {}
                b'\n' | b'\r' => (line, column) = (line + 1, 1),
                // The first byte of a character counts, twice when UTF-16 needs two units; the
                // others do not.
                0x80..=0xBF => {}
                0xF0.. => column += 2,
                _ => column += 1,
            }
        }

        Location { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, LineIndex, Location};

    /// The location, found by reading all of the text before it.
    fn slowly(text: &str, offset: usize) -> Location {
        let before = text[..offset].replace("\r\n", "\n").replace('\r', "\n");
        let last = before.rsplit('\n').next().unwrap_or_default();
        Location {
            line: before.matches('\n').count() + 1,
            column: last.encode_utf16().count() + 1,
        }
    }

    #[test]
    fn locations_match_those_of_a_slow_search() {
        let long = format!("{}\n{}", "é".repeat(BLOCK), "x\u{1F600}\r\n".repeat(BLOCK));
        for text in ["", "a", "a\nb\rc\r\nd", "\u{1F600}{a}", long.as_str()] {
            let index = LineIndex::new(text);
            for (offset, _) in text
                .char_indices()
                .filter(|(at, _)| !text[..*at].ends_with('\r'))
            {
                assert_eq!(index.locate(offset), slowly(text, offset), "{offset}");
            }
            assert_eq!(index.locate(text.len() + 1), slowly(text, text.len()));
        }
    }
}
