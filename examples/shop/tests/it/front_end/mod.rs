//! Sixty requests of a front end in tables by subject, each with its user, document and response.

mod denied;
mod figures;
mod lists;
mod pages;
mod relations;
mod search;
mod writes;

use svc::serde_json::{Value, json};
use svc::testing::{Answer, Client};

use crate::who::Who;

/// A named request with what is expected of its answer.
pub(crate) struct Case {
    name: &'static str,
    who: Who,
    document: &'static str,
    variables: Value,
    expected: Expected,
}

enum Expected {
    /// The data, and no errors.
    Data(Value),
    /// The code of the first error.
    Code(&'static str),
    /// The code, and the text of the message.
    Message(&'static str, &'static str),
}

/// Returns a request of this person.
fn case(name: &'static str, who: Who, document: &'static str) -> Case {
    Case {
        name,
        who,
        document,
        variables: json!({}),
        expected: Expected::Data(Value::Null),
    }
}

impl Case {
    fn with(mut self, variables: Value) -> Self {
        self.variables = variables;
        self
    }

    fn gives(mut self, data: Value) -> Self {
        self.expected = Expected::Data(data);
        self
    }

    fn fails(mut self, code: &'static str) -> Self {
        self.expected = Expected::Code(code);
        self
    }

    fn says(mut self, code: &'static str, message: &'static str) -> Self {
        self.expected = Expected::Message(code, message);
        self
    }

    fn check(&self, answer: &Answer) {
        let (name, who, text) = (self.name, self.who, answer.text());
        match &self.expected {
            Expected::Data(data) => {
                assert_eq!(
                    (&answer.json()["data"], answer.errors()),
                    (data, &[][..]),
                    "{name}, {who:?}"
                );
            }
            Expected::Code(code) => assert_eq!(answer.code(), *code, "{name}, {who:?}: {text}"),
            Expected::Message(code, message) => {
                assert_eq!(answer.code(), *code, "{name}, {who:?}: {text}");
                assert!(
                    answer.message().contains(message),
                    "{name}, {who:?}: {text}"
                );
            }
        }
    }
}

/// Sends the requests one after the other.
async fn run(client: &Client, cases: &[Case]) {
    for case in cases {
        let answer = case
            .who
            .of(client)
            .query(case.document)
            .variables(case.variables.clone())
            .await;
        case.check(&answer);
    }
}
