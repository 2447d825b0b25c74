//! Converts Rust names to GraphQL names.

/// Whether snake_case names become camelCase (`SVC_AUTO_CAMEL_CASE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Names as in the source.
    #[default]
    AsWritten,
    /// `created_at` becomes `createdAt`.
    CamelCase,
}

impl Naming {
    /// The GraphQL name of a field, argument or operation.
    pub(crate) fn apply(self, rust: &str) -> String {
        match self {
            Self::AsWritten => rust.to_owned(),
            Self::CamelCase => camel_case(rust),
        }
    }
}

/// `categories` becomes `Categories`, `placed_orders` becomes `PlacedOrders`.
pub(crate) fn pascal_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        // Empty words, as between two underscores, vanish.
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        format!("{}{rest}", first.to_uppercase())
    });
    words.collect()
}

/// Joins words at single underscores. Leading, trailing and doubled underscores stay, so that names
/// stay distinct.
fn camel_case(rust: &str) -> String {
    let body = rust.trim_start_matches('_');
    let mut out = rust[..rust.len() - body.len()].to_owned();
    let mut chars = body.chars().peekable();

    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '_' && *next != '_' && !out.ends_with('_') => {
                out.extend(next.to_uppercase());
                chars.next();
            }
            _ => out.push(c),
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn names_become_camel_case() {
        for (rust, graphql) in [
            ("created_at", "createdAt"),
            ("dns_1_id", "dns1Id"),
            ("address_line_1", "addressLine1"),
            ("userID", "userID"),
            ("_private", "_private"),
            ("a__b", "a__b"),
            ("type_", "type_"),
            ("id", "id"),
        ] {
            assert_eq!(camel_case(rust), graphql);
        }
    }
}
