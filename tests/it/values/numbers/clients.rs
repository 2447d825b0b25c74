//! Numbers that clients send.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{DIGITS, DOCUMENT, answer, app, document, get, send};

/// Finite doubles of any size.
fn doubles(count: usize) -> Vec<f64> {
    let mut random = StdRng::seed_from_u64(8);
    let any = std::iter::repeat_with(|| {
        let fraction: f64 = random.random();
        match random.random_range(0..3) {
            0 => f64::from_bits(random.random()),
            1 => fraction * 1000.0,
            _ => -fraction,
        }
    });
    any.filter(|value| value.is_finite()).take(count).collect()
}

#[tokio::test]
async fn every_double_is_returned_as_it_was_sent() {
    let app = app().await;
    let sent = doubles(1_000);
    let list = format!(
        "[{}]",
        sent.iter()
            .map(|value| format!("{value:e}"))
            .collect::<Vec<_>>()
            .join(",")
    );
    let asked = "query ($values: [Float!]!) { echoFloats(values: $values) }";
    for (way, reply) in [
        (
            "variables",
            send(&app, "/graphql", asked, &format!("{{\"values\":{list}}}")).await,
        ),
        (
            "literals",
            send(
                &app,
                "/graphql",
                &format!("{{ echoFloats(values: {list}) }}"),
                "{}",
            )
            .await,
        ),
        (
            "a default",
            send(
                &app,
                "/graphql",
                &format!("query ($v: [Float!]! = {list}) {{ echoFloats(values: $v) }}"),
                "{}",
            )
            .await,
        ),
        (
            "a query string",
            get(&app, asked, &format!("{{\"values\":{list}}}")).await,
        ),
    ] {
        let found = reply.data()["echoFloats"].clone();
        let found: Vec<f64> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.to_string().parse().unwrap())
            .collect();
        let differing: Vec<_> = sent
            .iter()
            .zip(&found)
            .filter(|(one, other)| one != other)
            .take(3)
            .collect();
        assert_eq!((found.len(), differing), (sent.len() + 1, vec![]), "{way}");
        assert_eq!(found[sent.len()], 51.248_178_375_505_4);
    }
}

#[tokio::test]
async fn decimals_keep_their_digits_as_numbers_and_as_strings() {
    let app = app().await;
    for (sent, expected) in [
        (DIGITS.to_owned(), DIGITS),
        (format!("\"{DIGITS}\""), DIGITS),
        ("0.10000000000000001".to_owned(), "0.10000000000000001"),
        ("1.50".to_owned(), "1.50"),
        (
            "12345678901234567890.12345678".to_owned(),
            "12345678901234567890.12345678",
        ),
        ("9007199254740993".to_owned(), "9007199254740993"),
        ("1e3".to_owned(), "1000"),
        ("-1.25E-2".to_owned(), "-0.0125"),
    ] {
        let expected = answer("echoDecimal", &format!("[\"{expected}\",\"{DIGITS}\"]"));
        let asked = "query ($value: Decimal!) { echoDecimal(value: $value) }";
        assert_eq!(
            send(&app, "/graphql", asked, &format!("{{\"value\":{sent}}}"))
                .await
                .text,
            expected,
            "{sent}"
        );
        let literal = format!("{{ echoDecimal(value: {sent}) }}");
        assert_eq!(
            send(&app, "/graphql", &literal, "{}").await.text,
            expected,
            "{sent}"
        );
    }
    let refused = send(
        &app,
        "/graphql",
        "query ($v: Decimal!) { echoDecimal(value: $v) }",
        "{\"v\":1e100000}",
    )
    .await;
    assert_eq!(refused.code(), "BAD_USER_INPUT", "{}", refused.text);
    assert!(
        refused
            .message()
            .contains("send the number as a string of digits"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn integers_are_exact_or_refused() {
    let app = app().await;
    let asked = "query ($value: BigInt!, $id: ID!) { echoIntegers(value: $value, id: $id) }";
    for (value, id, expected) in [
        (
            "9223372036854775807",
            "7",
            Some("[\"9223372036854775807\",\"7\"]"),
        ),
        (
            "9223372036854775807.0",
            "99999999999999999999",
            Some("[\"9223372036854775807\",\"99999999999999999999\"]"),
        ),
        ("9223372036854775808", "7", None),
        ("1.0000000000000000001", "7", None),
        ("1", "1.0000000000000000001", None),
    ] {
        let reply = send(
            &app,
            "/graphql",
            asked,
            &format!("{{\"value\":{value},\"id\":{id}}}"),
        )
        .await;
        match expected {
            Some(expected) => assert_eq!(reply.text, answer("echoIntegers", expected)),
            None => assert_eq!(
                reply.code(),
                "BAD_USER_INPUT",
                "{value} {id}: {}",
                reply.text
            ),
        }
    }
}

#[tokio::test]
async fn json_is_passed_on_with_all_digits() {
    let app = app().await;
    let asked = "query ($value: JSON!) { echoJson(value: $value) }";
    let variables = format!("{{\"value\":{DOCUMENT}}}");
    let literal = DOCUMENT
        .replace("\"big\"", "big")
        .replace("\"fine\"", "fine")
        .replace("\"huge\"", "huge");
    let inside = "query ($value: JSON!) { echoJson(value: {big: 1, at: [$value]}) }";
    for (way, reply, expected) in [
        (
            "a variable",
            send(&app, "/graphql", asked, &variables).await,
            DOCUMENT.to_owned(),
        ),
        (
            "a literal",
            send(
                &app,
                "/graphql",
                &format!("{{ echoJson(value: {literal}) }}"),
                "{}",
            )
            .await,
            DOCUMENT.to_owned(),
        ),
        (
            "a query string",
            get(&app, asked, &variables).await,
            DOCUMENT.to_owned(),
        ),
        (
            "inside",
            send(&app, "/graphql", inside, &variables).await,
            format!("{{\"big\":1,\"at\":[{DOCUMENT}]}}"),
        ),
    ] {
        assert_eq!(reply.text, answer("echoJson", &expected), "{way}");
    }
    // Written out by PostgreSQL, five bytes would be a hundred thousand.
    for value in ["1e131000", "[{\"a\":-1E-16000}]"] {
        let reply = send(&app, "/graphql", asked, &format!("{{\"value\":{value}}}")).await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
        assert!(
            reply.message().contains("send it as a string"),
            "{}",
            reply.text
        );
    }
    let literal = send(
        &app,
        "/graphql",
        "{ echoJson(value: {a: [1e131000]}) }",
        "{}",
    )
    .await;
    assert_eq!(
        literal.code(),
        "GRAPHQL_VALIDATION_FAILED",
        "{}",
        literal.text
    );
    // The program's own type decides what it can hold.
    let nearest = "query ($value: JSON!) { echoNearest(value: $value) }";
    let reply = send(
        &app,
        "/graphql",
        nearest,
        "{\"value\":[0.12345678901234567890123, 51.24817837550540]}",
    )
    .await;
    assert_eq!(
        reply.text,
        answer("echoNearest", "[0.12345678901234568,51.2481783755054]")
    );
    assert_eq!(
        send(&app, "/graphql", nearest, &variables).await.code(),
        "BAD_USER_INPUT"
    );
}

#[tokio::test]
async fn functions_and_filters_get_all_digits() {
    let app = app().await;
    let asked = "mutation ($input: FlatInput!, $exact: Decimal!, $notes: JSON!, $ratio: Float!) {
        keep(input: $input, exact: $exact, notes: $notes, ratio: $ratio) }";
    let ratio = "51.24817837550540";
    let variables = format!(
        "{{\"input\":{{\"exact\":{DIGITS},\"ratio\":{ratio},\"notes\":{DOCUMENT}}},\"exact\":{DIGITS},\"notes\":{DOCUMENT},\"ratio\":{ratio}}}"
    );
    let stored = document().replace("\":", "\": ").replace(",\"", ", \"");
    let expected = format!("{DIGITS} 51.2481783755054 {stored} {DIGITS} {stored} 51.2481783755054");
    let reply = send(&app, "/graphql", asked, &variables).await;
    assert_eq!(reply.data()["keep"], expected.as_str());
    for root in ["columns", "data", "table"] {
        let ty = format!(
            "{}{}Flat",
            root[..1].to_uppercase(),
            root[1..].trim_end_matches('s')
        );
        let asked = format!("query ($where: {ty}Where) {{ {root}(where: $where) {{ id }} }}");
        for (condition, finds) in [
            (format!("{{\"exact\":{{\"eq\":{DIGITS}}}}}"), true),
            (
                "{\"exact\":{\"eq\":0.1234567890123456789012345679}}".to_owned(),
                false,
            ),
            (format!("{{\"exact\":{{\"in\":[1,{DIGITS}]}}}}"), true),
            (format!("{{\"notes\":{{\"eq\":{DOCUMENT}}}}}"), true),
            (
                "{\"notes\":{\"contains\":{\"fine\":0.12345678901234567890123}}}".to_owned(),
                true,
            ),
            (
                "{\"notes\":{\"contains\":{\"fine\":0.12345678901234567890124}}}".to_owned(),
                false,
            ),
            (
                format!("{{\"rent\":{{\"amount\":{{\"lte\":{DIGITS},\"gte\":{DIGITS}}}}}}}"),
                true,
            ),
            ("{\"total\":{\"eq\":9007199254740993}}".to_owned(), true),
            ("{\"total\":{\"eq\":9007199254740992}}".to_owned(), false),
        ] {
            let reply = send(
                &app,
                "/graphql",
                &asked,
                &format!("{{\"where\":{condition}}}"),
            )
            .await;
            let expected = answer(root, if finds { "[{\"id\":1}]" } else { "[]" });
            assert_eq!(reply.text, expected, "{condition}");
            let reply = send(
                &app,
                "/graphql/rust",
                &asked,
                &format!("{{\"where\":{condition}}}"),
            )
            .await;
            assert_eq!(reply.text, expected, "{condition}");
        }
    }
}

#[tokio::test]
async fn cached_sql_gets_and_gives_all_digits() {
    let app = app().await;
    let reply = send(
        &app,
        "/graphql",
        super::CACHED,
        &format!("{{\"notes\":{DOCUMENT},\"exact\":{DIGITS}}}"),
    )
    .await;
    let document = document();
    let expected = format!(
        "{{\"data\":{{\"data\":[{{\"notes\":{document},\"exact\":\"{DIGITS}\",\"rent\":{{\"amount\":\"{DIGITS}\",\"extra\":{document}}}}}],\
         \"echoJson\":{document},\"echoDecimal\":[\"{DIGITS}\"]}}}}"
    );
    assert_eq!(reply.text, expected);
}
