//! The disagreements that remain, each with its reason.

use serde_json::Value;

use super::compare::{Outcome, Request, Verdict};

/// A disagreement that is known.
pub(super) struct Known {
    /// Why it remains.
    pub(super) reason: &'static str,
    /// Whether a disagreement between svc and the reference is of this kind.
    pub(super) is: fn(&Request, &Outcome, &Outcome) -> bool,
}

/// The message of graphql-js for a condition that is null.
const NULL_CONDITION: &str = r#"Argument \"if\" of non-null type \"Boolean!\" must not be null"#;

/// All of them; each has to disagree still.
pub(super) const KNOWN: &[Known] = &[
    Known {
        reason: "An empty document is a malformed request to svc's HTTP layer, not a syntax error; both are refused.",
        is: |request, ours, theirs| {
            request.query.trim().is_empty()
                && (ours.verdict, theirs.verdict) == (Verdict::Other, Verdict::Parse)
        },
    },
    Known {
        reason: "svc finds a subscription in a schema without one while it validates; graphql-js 16 finds it while it \
                 executes, so that a document may hold one beside the operation that runs.",
        is: |_, ours, theirs| {
            ours.verdict == Verdict::Validation
                && ours
                    .why
                    .contains("`subscription` root operation type is not defined")
                && !matches!(theirs.verdict, Verdict::Parse | Verdict::Validation)
        },
    },
    Known {
        reason: "A Float literal beyond a double is Infinity in JavaScript, which JSON cannot hold; the specification \
                 asks for an error, which svc gives.",
        is: |request, ours, theirs| {
            ["1e309", "1e400"]
                .iter()
                .any(|number| request.query.contains(number))
                && ours.why.contains("non-finite")
                && (ours.verdict, theirs.verdict) == (Verdict::Validation, Verdict::Executed)
        },
    },
    Known {
        reason: "A JSON number beyond 2^53 is exact as an ID in svc; JavaScript rounds it.",
        is: |request, ours, theirs| {
            request.kind == "variable"
                && request.variables.get("v") == Some(&Value::from(9_007_199_254_740_993_i64))
                && ours
                    .data
                    .as_deref()
                    .is_some_and(|data| data.contains("9007199254740993"))
                && theirs
                    .data
                    .as_deref()
                    .is_some_and(|data| data.contains("9007199254740992"))
        },
    },
    Known {
        reason: "A JSON number such as 1e21 is an integer to JavaScript, and the ID \"1e+21\"; svc takes 64-bit integers.",
        is: |_, ours, theirs| {
            ours.why.contains("`ID` cannot represent the value: 1e+")
                && (ours.verdict, theirs.verdict) == (Verdict::Variables, Verdict::Executed)
        },
    },
    Known {
        reason: "Fields conflict for graphql-js when one argument is a string and the other a block string of the same \
                 value, for it compares texts; apollo-compiler compares values.",
        is: |request, ours, theirs| {
            theirs.rules == ["OverlappingFieldsCanBeMergedRule"]
                && request.query.contains("\"\"\"a\"\"\"")
                && !matches!(ours.verdict, Verdict::Parse | Verdict::Validation)
        },
    },
    Known {
        reason: "A nullable variable as the field of a `@oneOf` object is refused by both, but graphql-js 16.15 overlooks \
                 it where the object's type is non-null (it compares the wrapped type).",
        is: |_, ours, theirs| {
            ours.verdict == Verdict::Validation
                && ours.why.contains("is the field of a `@oneOf` object")
                && !matches!(theirs.verdict, Verdict::Parse | Verdict::Validation)
        },
    },
    Known {
        reason: "Null for the variable of a condition (declared with a default, so that it may be nullable): svc refuses \
                 the request, graphql-js fails the object in which it meets the condition.",
        is: |_, ours, theirs| {
            ours.verdict == Verdict::Variables
                && ours
                    .why
                    .contains("is null, but a condition is true or false")
                && theirs.verdict == Verdict::Executed
        },
    },
    Known {
        reason: "The same inside of introspection, which apollo-compiler runs: null is false there.",
        is: |request, ours, theirs| {
            request.kind == "introspection"
                && ours.verdict == Verdict::Executed
                && theirs.why.contains(NULL_CONDITION)
        },
    },
    Known {
        reason: "An argument that a variable makes wrong is reported at the field; graphql-js points to the argument's value.",
        is: |_, ours, theirs| {
            ours.differs_in_places_only(theirs)
                && theirs.why.contains("Argument \\\"")
                && ours.why.contains("argument `")
        },
    },
    Known {
        reason: "`__schema` lists the same types and directives in another order, and graphql-js 16.15 has a few newer \
                 things: the location DIRECTIVE_DEFINITION, a description of `@oneOf`.",
        is: |request, ours, theirs| {
            let json =
                |outcome: &Outcome| serde_json::from_str::<Value>(outcome.data.as_deref()?).ok();
            let (Some(ours), Some(theirs)) = (json(ours), json(theirs)) else {
                return false;
            };
            request.query.contains("__schema") && similar(&ours, &theirs)
        },
    },
    Known {
        reason: "Introspection has a limit on its depth, as apollo-compiler has it; it guards against documents that \
                 grow exponentially.",
        is: |_, ours, theirs| {
            ours.why.contains("Maximum introspection depth exceeded")
                && theirs.verdict == Verdict::Executed
        },
    },
];

/// Which disagreement it is, if it is known.
pub(super) fn find(request: &Request, ours: &Outcome, theirs: &Outcome) -> Option<usize> {
    KNOWN
        .iter()
        .position(|known| (known.is)(request, ours, theirs))
}

/// The types that describe types, and the directives, of which graphql-js knows something newer.
const NEWER: usize = 3;

/// Whether two answers are the same but for the order of lists and a few of their elements.
fn similar(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let pairs = || ours.iter().zip(theirs);
            ours.len() == theirs.len()
                && pairs().all(|(ours, theirs)| ours.0 == theirs.0 && similar(ours.1, theirs.1))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            let mut rest: Vec<_> = theirs.iter().map(sorted).collect();
            let newer = ours.iter().filter(|one| {
                match rest.iter().position(|other| *other == sorted(one)) {
                    Some(same) => {
                        rest.swap_remove(same);
                        false
                    }
                    None => true,
                }
            });
            newer.count() <= NEWER && rest.len() <= NEWER
        }
        _ => ours == theirs,
    }
}

/// The value with all lists sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            items.into()
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), sorted(value)))
            .collect(),
        _ => value.clone(),
    }
}
