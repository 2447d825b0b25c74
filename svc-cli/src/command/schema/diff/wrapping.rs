//! Types that may replace others.

use apollo_compiler::ast::Type;

/// Whether an output type stays compatible for clients: the same type, or a stricter one.
pub(super) fn is_safe_for_answers(old: &Type, new: &Type) -> bool {
    match (old, new) {
        (Type::Named(old), Type::Named(new) | Type::NonNullNamed(new))
        | (Type::NonNullNamed(old), Type::NonNullNamed(new)) => old == new,
        (Type::List(old), Type::List(new) | Type::NonNullList(new))
        | (Type::NonNullList(old), Type::NonNullList(new)) => is_safe_for_answers(old, new),
        _ => false,
    }
}

/// Whether an input type stays compatible for clients: the same type, or a less strict one.
pub(super) fn is_safe_for_inputs(old: &Type, new: &Type) -> bool {
    // Inputs are contravariant: a client that sends the old type must satisfy the new one.
    is_safe_for_answers(new, old)
}

#[cfg(test)]
mod tests {
    use apollo_compiler::parser::Parser;

    use super::*;

    fn ty(text: &str) -> Type {
        Parser::new().parse_type(text, "type").unwrap()
    }

    #[test]
    fn results_may_become_stricter_and_inputs_looser() {
        for (loose, strict) in [("T", "T!"), ("[T]", "[T!]!"), ("[[T]]!", "[[T!]]!")] {
            assert!(is_safe_for_answers(&ty(loose), &ty(strict)), "{loose}");
            assert!(!is_safe_for_answers(&ty(strict), &ty(loose)), "{loose}");
            assert!(is_safe_for_inputs(&ty(strict), &ty(loose)), "{loose}");
        }

        for (one, other) in [("T", "U"), ("T", "[T]"), ("[T!]", "[T]!")] {
            assert!(
                !is_safe_for_answers(&ty(one), &ty(other))
                    && !is_safe_for_inputs(&ty(one), &ty(other)),
                "{one}"
            );
        }
    }
}
