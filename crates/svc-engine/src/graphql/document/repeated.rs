//! Texts that clients send repeatedly, with their literals for the document that they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;

use super::literals::SentLiterals;
use super::{Document, Found};
use crate::graphql::heap_size;

/// The bytes that a text takes in the cache in addition to the counted ones.
const BASE_WEIGHT: usize = 256;
/// The number of recent texts whose hashes are kept.
const SLOTS: u64 = 4096;

/// The literals of a text that was bound to a shared document before.
#[derive(Debug)]
pub(super) struct RepeatedText {
    /// The masked text of the document.
    pub(super) key: Arc<str>,
    /// The number of the document: in another one with this masked text, the literals that are not
    /// lifted may differ.
    number: u64,
    literals: SentLiterals,
}

impl RepeatedText {
    /// `None` if no other text shares the document.
    pub(super) fn new(found: &Found) -> Option<Self> {
        let (shared, literals) = (found.document.shared.as_ref()?, found.literals.as_ref()?);
        Some(Self {
            key: shared.key.clone(),
            number: found.document.number,
            literals: literals.clone(),
        })
    }

    /// The text as sent.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.literals.text.text
    }

    /// Returns the document with the literals of this text, if they were bound to this document.
    pub(super) fn bound(&self, document: Arc<Document>) -> Option<Found> {
        (document.number == self.number).then(|| Found {
            document,
            literals: Some(self.literals.clone()),
        })
    }

    /// The size in bytes.
    pub(super) fn weight(&self) -> usize {
        BASE_WEIGHT + heap_size::text(&self.key) + self.literals.weight()
    }
}

/// The hashes of recent texts. Most texts with values written into them are sent once, and would
/// only displace others in the cache.
#[derive(Debug)]
pub(super) struct RecentTexts {
    hasher: RandomState,
    slots: Box<[AtomicU64]>,
}

impl RecentTexts {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Notes a text. Returns whether it was noted before, and no other text has taken its slot.
    pub(super) fn note(&self, text: &str) -> bool {
        let hash = self.hasher.hash_one(text);
        let slot = usize::try_from(hash % SLOTS).ok();
        let slot = slot.and_then(|slot| self.slots.get(slot));
        slot.is_some_and(|slot| slot.swap(hash, Ordering::Relaxed) == hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{RecentTexts, SLOTS};

    #[test]
    fn a_text_is_noted_at_its_second_time() {
        let recent = RecentTexts::new();
        for text in ["{ a(b: 1) }", "{ a(b: 2) }"] {
            assert!(!recent.note(text), "{text}");
            assert!(recent.note(text), "{text}");
            assert!(recent.note(text), "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_repeated_are_forgotten() {
        let recent = RecentTexts::new();
        let first = "{ a(b: 1) }";
        recent.note(first);
        for number in 2..SLOTS * 20 {
            recent.note(&format!("{{ a(b: {number}) }}"));
        }
        assert!(!recent.note(first));
    }
}
