//! Parts and patterns of text. Letters have a case only where they are ASCII, as in the cluster of
//! the tests.

pub(super) fn holds(operator: &str, stored: &str, given: &str) -> bool {
    if let Some(operator) = operator.strip_prefix('i') {
        return holds(
            operator,
            &stored.to_ascii_lowercase(),
            &given.to_ascii_lowercase(),
        );
    }
    match operator {
        "contains" => stored.contains(given),
        "startswith" => stored.starts_with(given),
        "endswith" => stored.ends_with(given),
        "like" => like(
            &stored.chars().collect::<Vec<_>>(),
            &given.chars().collect::<Vec<_>>(),
        ),
        _ => regular(stored, given),
    }
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match (text, pattern) {
        (_, []) => text.is_empty(),
        (_, ['%', rest @ ..]) => (0..=text.len()).any(|skipped| like(&text[skipped..], rest)),
        ([_, text @ ..], ['_', rest @ ..]) => like(text, rest),
        ([first, text @ ..], ['\\', escaped, rest @ ..]) => first == escaped && like(text, rest),
        ([first, text @ ..], [same, rest @ ..]) => first == same && like(text, rest),
        _ => false,
    }
}

/// The expressions that the generator asks for: letters, perhaps with `^` before or `$` after.
fn regular(text: &str, expression: &str) -> bool {
    match (expression.strip_prefix('^'), expression.strip_suffix('$')) {
        (Some(start), _) => text.starts_with(start),
        (_, Some(end)) => text.ends_with(end),
        _ => text.contains(expression),
    }
}
