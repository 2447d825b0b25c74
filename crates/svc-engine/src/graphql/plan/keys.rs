//! The keys of a JSON object that a selection reads.

/// Stored names without duplicates, in the order of the keys in PostgreSQL's `jsonb` output, so
/// that each is searched at the place where it should come next.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) names: Vec<&'static str>,
    /// For each field of the selection, the index in `names` of the name that it reads;
    /// `names.len()` for fields that are not stored.
    fields: Vec<usize>,
    /// Whether the names can be searched verbatim: a backslash is an escape in JSON.
    pub(crate) literal: bool,
}

impl Keys {
    /// Creates the keys from the stored name of each field.
    pub(crate) fn new(fields: impl Iterator<Item = Option<&'static str>> + Clone) -> Self {
        let mut names: Vec<_> = fields.clone().flatten().collect();
        names.sort_unstable_by_key(|name| (name.len(), *name));
        names.dedup();
        let position = |field: Option<&str>| names.iter().position(|name| Some(*name) == field);
        let fields = fields
            .map(|field| position(field).unwrap_or(names.len()))
            .collect();
        let literal = names.iter().all(|name| !name.contains('\\'));

        Self {
            names,
            fields,
            literal,
        }
    }

    /// The position of the name that the field at `index` reads.
    pub(crate) fn of_field(&self, index: usize) -> Option<usize> {
        self.fields.get(index).copied()
    }
}
