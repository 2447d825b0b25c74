//! Series of one name, distinguished by the values of their labels.

use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use ahash::RandomState;
use indexmap::{Equivalent, IndexMap};

/// The maximum length of a label value, in bytes; longer ones are folded.
const MAX_LABEL_LENGTH: usize = 120;

/// The value of folded labels.
pub(super) const OTHER: &str = "other";

/// The series of one name. Each lives as long as the process: a removed counter would restart at 0.
#[derive(Debug)]
pub(super) struct Family<S: 'static, const N: usize> {
    /// The maximum number of series whose labels come from outside of the program.
    most: usize,
    known: RwLock<Known<S, N>>,
}

type Series<S, const N: usize> = IndexMap<[Box<str>; N], &'static S, RandomState>;

#[derive(Debug)]
struct Known<S: 'static, const N: usize> {
    series: Series<S, N>,
    /// The number of series that count towards `most`.
    chosen: usize,
}

/// Labels that borrow their values.
#[derive(Hash)]
struct Labels<'a, const N: usize>([&'a str; N]);

impl<const N: usize> Equivalent<[Box<str>; N]> for Labels<'_, N> {
    fn equivalent(&self, key: &[Box<str>; N]) -> bool {
        self.0
            .iter()
            .zip(key)
            .all(|(value, known)| **value == **known)
    }
}

impl<S: 'static, const N: usize> Family<S, N> {
    pub(super) fn new(most: usize) -> Self {
        let known = Known {
            series: IndexMap::with_hasher(RandomState::new()),
            chosen: 0,
        };
        Self {
            most,
            known: RwLock::new(known),
        }
    }

    /// Returns the series with these labels, creating it if needed. If there are too many, returns
    /// the series with the labels `folded` instead.
    pub(super) fn get(
        &self,
        labels: [&str; N],
        folded: [&str; N],
        make: impl FnOnce([&str; N]) -> S,
    ) -> &'static S {
        // Clients choose some of the values, and a series stays in memory for good.
        let is_long = labels.iter().any(|value| value.len() > MAX_LABEL_LENGTH);
        if is_long {
            return self.kept(folded, make);
        }

        if let Some(known) = self.find(labels) {
            return known;
        }

        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);

        // Another thread may have added the series between the two locks.
        let is_known = known.series.contains_key(&Labels(labels));
        if !is_known && known.chosen == self.most {
            return known.get(folded, make);
        }

        known.chosen += usize::from(!is_known);

        known.get(labels, make)
    }

    /// Returns the series with labels chosen by the program, which are never folded.
    pub(super) fn kept(&self, labels: [&str; N], make: impl FnOnce([&str; N]) -> S) -> &'static S {
        self.find(labels).unwrap_or_else(|| {
            self.known
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .get(labels, make)
        })
    }

    /// Returns all series, in the order of their creation.
    pub(super) fn all(&self) -> Vec<([Box<str>; N], &'static S)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .series
            .iter()
            .map(|(labels, series)| (labels.clone(), *series))
            .collect()
    }

    fn find(&self, labels: [&str; N]) -> Option<&'static S> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .series
            .get(&Labels(labels))
            .copied()
    }
}

impl<S: 'static, const N: usize> Known<S, N> {
    fn get(&mut self, labels: [&str; N], make: impl FnOnce([&str; N]) -> S) -> &'static S {
        if let Some(known) = self.series.get(&Labels(labels)) {
            return known;
        }
        // Leaked, because a series is never removed and counting in it must not need the lock.
        let made: &'static S = Box::leak(Box::new(make(labels)));
        self.series.insert(labels.map(Box::from), made);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::{Family, MAX_LABEL_LENGTH, OTHER};

    #[test]
    fn labels_beyond_the_bound_are_folded_into_one() {
        let family: Family<String, 1> = Family::new(2);
        let get = |label: &str| {
            family
                .get([label], [OTHER], |[label]| label.to_owned())
                .as_str()
        };

        assert_eq!(
            [get("a"), get("b"), get("c"), get("a")],
            ["a", "b", OTHER, "a"]
        );
        assert_eq!(
            family.kept(["registered"], |[label]| label.to_owned()),
            "registered"
        );
        assert_eq!(get(&"x".repeat(MAX_LABEL_LENGTH + 1)), OTHER);

        assert_eq!(family.all().len(), 4);
    }
}
