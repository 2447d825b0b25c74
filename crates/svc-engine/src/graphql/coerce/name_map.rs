//! Values by name.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Values by name, sorted. A request has few of them, so a hash table would cost more than it
/// saves.
#[derive(Debug, Clone)]
pub struct NameMap<K, V>(Vec<(K, V)>);

impl<K: AsRef<str>, V> NameMap<K, V> {
    /// If several values have the same name, the last one counts.
    pub(crate) fn new(mut values: Vec<(K, V)>) -> Self {
        // The sort is stable, so equal names keep their order. `dedup_by` removes the later of two
        // neighbors, so the values are swapped to keep the last one.
        values.sort_by(|(one, _), (other, _)| one.as_ref().cmp(other.as_ref()));
        values.dedup_by(|later, earlier| {
            let same = later.0.as_ref() == earlier.0.as_ref();
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });

        Self(values)
    }

    /// Adds values.
    pub(crate) fn with(mut self, values: Vec<(K, V)>) -> Self {
        if values.is_empty() {
            return self;
        }
        self.0.extend(values);
        Self::new(self.0)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_ref().cmp(name))
            .ok()
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        Some(&self.0[self.position(name)?].1)
    }

    /// Takes the value, and leaves its default behind.
    pub fn take(&mut self, name: &str) -> Option<V>
    where
        V: Default,
    {
        let position = self.position(name)?;
        Some(std::mem::take(&mut self.0[position].1))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K, V> Default for NameMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: AsRef<str>, V> FromIterator<(K, V)> for NameMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        Self::new(values.into_iter().collect())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for NameMap<String, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Object<V> {
            type Value = NameMap<String, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::with_capacity(4);
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(NameMap::new(values))
            }
        }

        deserializer.deserialize_map(Object(std::marker::PhantomData))
    }
}
