//! Helpers of the families' tests.

use proc_macro2::TokenStream;

use super::Family;
use crate::errors::Errors;

/// Expands a family on source text and returns the messages and the output, which must be items.
pub(crate) fn expand(family: Family, args: &str, item: &str) -> (Vec<String>, String) {
    let mut errors = Errors::default();
    let output = family(tokens(args), tokens(item), &mut errors);
    if let Err(error) = syn::parse2::<syn::File>(output.clone()) {
        panic!("the output does not parse: {error}\n{output}");
    }
    (errors.messages(), output.to_string())
}

/// The messages for an item.
pub(crate) fn messages(family: Family, args: &str, item: &str) -> Vec<String> {
    expand(family, args, item).0
}

/// Asserts that a valid item's output contains each part, ignoring whitespace.
pub(crate) fn has(family: Family, args: &str, item: &str, parts: &[&str]) {
    let (errors, output) = expand(family, args, item);
    assert_eq!(errors, [""; 0], "{item}");
    for part in parts {
        assert!(
            squeezed(&output).contains(&squeezed(part)),
            "no `{part}` in\n{output}"
        );
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test's own text")
}
