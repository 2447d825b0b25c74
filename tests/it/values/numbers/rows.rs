//! Numbers that the database sends.

use super::{DIGITS, answer, app, document};

const FIELDS: &str = "{ exact total notes rent { amount extra } }";

/// The row's fields as a client gets them.
fn row() -> String {
    let document = document();
    format!(
        "{{\"exact\":\"{DIGITS}\",\"total\":\"9007199254740993\",\"notes\":{document},\"rent\":{{\"amount\":\"{DIGITS}\",\"extra\":{document}}}}}"
    )
}

#[tokio::test]
async fn rows_have_all_digits_in_every_kind_of_view() {
    let app = app().await;
    for root in ["columns", "data", "table"] {
        let reply = app.query(&format!("{{ {root} {FIELDS} }}")).await;
        assert_eq!(reply.text, answer(root, &format!("[{}]", row())));
    }
    assert_eq!(
        app.query("{ smallest }").await.text,
        answer("smallest", &format!("\"{DIGITS}\""))
    );
}

/// A method makes the row a struct of the program; an embedded one is read from JSON.
#[tokio::test]
async fn structs_of_the_program_have_all_digits() {
    let app = app().await;
    let asked = "{ exact exactAgain rent { amount amountAgain extra extraAgain } }";
    let document = document();
    let expected = format!(
        "{{\"exact\":\"{DIGITS}\",\"exactAgain\":\"{DIGITS}\",\"rent\":{{\"amount\":\"{DIGITS}\",\"amountAgain\":\"{DIGITS}\",\
         \"extra\":{document},\"extraAgain\":{document}}}}}"
    );
    for root in ["columns", "data", "table", "awaited"] {
        let reply = app.query(&format!("{{ {root} {asked} }}")).await;
        assert_eq!(reply.text, answer(root, &format!("[{expected}]")));
    }
    for root in ["flat", "callFlat"] {
        let reply = app.query(&format!("mutation {{ {root} {asked} }}")).await;
        assert_eq!(reply.text, answer(root, &expected));
    }
    let result = format!("mutation {{ flatResult {{ ... on FlatSuccess {{ flat {asked} }} }} }}");
    assert_eq!(
        app.query(&result).await.text,
        answer("flatResult", &format!("{{\"flat\":{expected}}}"))
    );
    let decimals = app.query("mutation { callDecimal }").await;
    assert_eq!(
        decimals.text,
        answer("callDecimal", &format!("[\"{DIGITS}\",\"{DIGITS}\"]"))
    );
}

#[tokio::test]
async fn answers_of_functions_have_all_digits() {
    let app = app().await;
    assert_eq!(
        app.query(&format!("mutation {{ flat {FIELDS} }}"))
            .await
            .text,
        answer("flat", &row())
    );
    let asked =
        format!("mutation {{ flatResult {{ ... on FlatSuccess {{ flat {FIELDS} notes }} }} }}");
    let expected = format!("{{\"flat\":{},\"notes\":{}}}", row(), document());
    assert_eq!(
        app.query(&asked).await.text,
        answer("flatResult", &expected)
    );
}
