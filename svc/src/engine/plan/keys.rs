//! The keys of a JSON object that a selection reads.

/// Stored names, each once, in the order in which PostgreSQL writes the keys of `jsonb`, so that each is looked for
/// where it should come next.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) names: Vec<&'static str>,
    /// The position among the names of the one that each field of the selection reads; past their end for fields that
    /// are not stored.
    fields: Vec<usize>,
    /// Whether each name may be looked for as it is: a backslash means something else in JSON.
    pub(crate) literal: bool,
}

impl Keys {
    /// For the stored name of each field.
    pub(crate) fn new(fields: impl Iterator<Item = Option<&'static str>> + Clone) -> Self {
        let mut names: Vec<_> = fields.clone().flatten().collect();
        names.sort_unstable_by_key(|name| (name.len(), *name));
        names.dedup();
        let position = |field: Option<&str>| names.iter().position(|name| Some(*name) == field);
        let fields = fields.map(|field| position(field).unwrap_or(names.len())).collect();
        let literal = names.iter().all(|name| !name.contains('\\'));
        Self { names, fields, literal }
    }

    /// The position of the name that the field at `index` reads.
    pub(crate) fn of_field(&self, index: usize) -> Option<usize> {
        self.fields.get(index).copied()
    }
}
