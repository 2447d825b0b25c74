//! The canonical forms of the library's scalars, and the texts that they refuse.

use std::fmt::Display;
use std::str::FromStr;

use async_graphql::{InputType, ScalarType, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{
    Cidr, Color, CountryCode, CurrencyCode, DateRange, Duration, EmailAddress, Hostname, Iban,
    Inet, LTree, LanguageCode, Latitude, LocaleCode, Longitude, MacAddress, Money, Percentage,
    PhoneNumber, Port, ScalarError, SemanticVersion, Slug, Timezone, Url,
};
use crate::schema::recode_scalar;

/// Reads each text of `good` to its canonical form, which reads to itself, on every way a value
/// comes in; and refuses each of `bad` with a message that holds `rule`.
fn check<T>(good: &[(&str, &str)], rule: &str, bad: &[&str])
where
    T: FromStr<Err = ScalarError> + TryFrom<String, Error = ScalarError> + Display,
    T: Serialize + DeserializeOwned + ScalarType + InputType,
{
    for (text, canonical) in good {
        let value: T = text
            .parse()
            .unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(value.to_string(), *canonical, "{text:?}");
        assert_eq!(T::from_str(canonical).unwrap().to_string(), *canonical);
        assert_eq!(serde_json::to_value(&value).unwrap(), json!(canonical));
        assert_eq!(
            serde_json::from_value::<T>(json!(text))
                .unwrap()
                .to_string(),
            *canonical
        );

        assert_eq!(
            recode_scalar::<T>(Value::from(*text)),
            Ok(Value::from(*canonical))
        );
    }

    for text in bad {
        let Err(error) = T::try_from((*text).to_owned()) else {
            panic!("{text:?} is taken")
        };
        assert!(error.to_string().contains(rule), "{text:?}: {error}");
        assert!(serde_json::from_value::<T>(json!(text)).is_err());
        assert!(
            recode_scalar::<T>(Value::from(*text))
                .unwrap_err()
                .contains(rule)
        );
    }

    assert!(
        recode_scalar::<T>(Value::from(7))
            .unwrap_err()
            .contains("expected a string, found 7")
    );
}

/// Takes each text once, as it is.
fn same<'a>(texts: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    texts.iter().map(|text| (*text, *text)).collect()
}

#[test]
fn durations() {
    check::<Duration>(
        &[
            ("P1Y2M3DT4H5M6.5S", "P1Y2M3DT4H5M6.5S"),
            ("p1yt1m", "P1YT1M"),
            ("P2W", "P14D"),
            ("P14M", "P1Y2M"),
            ("PT36H", "PT36H"),
            ("PT90M", "PT1H30M"),
            ("PT1.5H", "PT1H30M"),
            ("PT0,000001S", "PT0.000001S"),
            ("-P1DT2H", "P-1DT-2H"),
            ("P-1DT2H", "P-1DT2H"),
            ("PT-0.5S", "PT-0.5S"),
            ("PT0S", "PT0S"),
            ("P0D", "PT0S"),
            ("00:00:00", "PT0S"),
            ("1 year 2 mons 3 days 04:05:06.789", "P1Y2M3DT4H5M6.789S"),
            ("-1 years -2 mons +3 days -04:05:06", "P-1Y-2M3DT-4H-5M-6S"),
            ("1 day", "P1D"),
            ("100:00:00", "PT100H"),
            ("-00:00:00.1", "PT-0.1S"),
            (
                "@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs ago",
                "P-1Y-2M3DT-4H-5M-6.7S",
            ),
            ("@ 0", "PT0S"),
            ("0", "PT0S"),
            ("1-2", "P1Y2M"),
            ("-1-2", "P-1Y-2M"),
            ("3 4:05:06.7", "P3DT4H5M6.7S"),
            ("-3 4:05:06.7", "P-3DT-4H-5M-6.7S"),
            ("+1-2 -3 +4:05:06.7", "P1Y2M-3DT4H5M6.7S"),
        ],
        "(ISO 8601)",
        &[
            "",
            "P",
            "PT",
            "P1",
            "1",
            "P1S",
            "P1DT",
            "PT1.0000001S",
            "PT1.5H3M",
            "P1.5D",
            "P1D1Y",
            "P1D1D",
            "1 week",
            "P99999999999Y",
            "PT9999999999999999H",
            "04:05",
            "04:-5:06",
            "@",
            "ago",
            "P+-1D",
            "day 1",
            "3",
            "1-2 3",
            "1-2-3",
            "1--2",
            "3 1-2",
            "1:02:03 3",
            "4:05:06 4:05:06",
            "@ 1",
            "@ ago",
            "P 1D",
        ],
    );

    let text = Duration::new(i32::MIN, i32::MIN, i64::MIN).to_string();
    assert_eq!(text, "P-178956970Y-8M-2147483648DT-2562047788H-54.775808S");
    assert_eq!(
        text.parse(),
        Ok(Duration::new(i32::MIN, i32::MIN, i64::MIN))
    );

    assert_eq!(
        Duration::try_from(std::time::Duration::from_millis(1500))
            .unwrap()
            .to_string(),
        "PT1.5S"
    );
}

#[test]
fn networks() {
    check::<Inet>(
        &[
            ("10.0.0.1", "10.0.0.1"),
            ("10.0.0.1/32", "10.0.0.1"),
            ("10.0.0.1/8", "10.0.0.1/8"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:db8::1/64", "2001:db8::1/64"),
            ("::ffff:10.0.0.1/128", "::ffff:10.0.0.1"),
        ],
        "IPv4 or IPv6 address",
        &[
            "",
            "10.0.0",
            "10.0.0.256",
            "010.0.0.1",
            "10.0.0.1/33",
            "10.0.0.1/",
            "10.0.0.1/+8",
            "::1%eth0",
            " ::1",
        ],
    );

    check::<Cidr>(
        &[
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10.0.0.1", "10.0.0.1/32"),
            ("2001:DB8::/32", "2001:db8::/32"),
        ],
        "(RFC 4632)",
        &["", "10.0.0.1/8", "10.0.0.0/33", "10/8"],
    );

    assert_eq!(
        "10.0.0.1/8".parse::<Inet>().unwrap().network().to_string(),
        "10.0.0.0/8"
    );

    check::<MacAddress>(
        &[
            ("08:00:2b:01:02:03", "08:00:2b:01:02:03"),
            ("08-00-2B-01-02-03", "08:00:2b:01:02:03"),
            ("08002b:010203", "08:00:2b:01:02:03"),
            ("0800.2b01.0203", "08:00:2b:01:02:03"),
            ("08002b010203", "08:00:2b:01:02:03"),
            ("08:00:2b:ff:fe:01:02:03", "08:00:2b:ff:fe:01:02:03"),
        ],
        "MAC address",
        &[
            "",
            "08:00:2b:01:02",
            "08:00:2b:01:02:0g",
            "08:00-2b:01:02:03",
            "0:800:2b01:02:03",
            "08:00:2b:01:02:é",
        ],
    );
}

#[test]
fn hosts() {
    let long = format!("{}.example", "a".repeat(64));
    check::<Hostname>(
        &[
            ("localhost", "localhost"),
            ("A-1.Example", "a-1.example"),
            ("bücher.example", "xn--bcher-kva.example"),
        ],
        "(RFC 1123)",
        &[
            "",
            ".",
            "a..b",
            "-a.example",
            "a-.example",
            "a_b.example",
            "10.0.0.1",
            "example.",
            "ü%41.example",
            &long,
        ],
    );

    check::<EmailAddress>(
        &[
            ("Ada@Example.COM", "Ada@example.com"),
            ("a.b+c@sub.example.com", "a.b+c@sub.example.com"),
            ("zoë@bücher.example", "zoë@xn--bcher-kva.example"),
        ],
        "(RFC 5321)",
        &[
            "",
            "ada",
            "@example.com",
            "a@",
            "a..b@example.com",
            "a b@example.com",
            "a@b@example.com",
            "a@10.0.0.1",
            "Ada <ada@example.com>",
            "a@exa!mple.com",
            &format!("{}@example.com", "a".repeat(65)),
        ],
    );

    check::<Url>(
        &[
            ("HTTPS://Example.com:443/a/../b", "https://example.com/b"),
            ("mailto:ada@example.com", "mailto:ada@example.com"),
            (
                "http://bücher.example/ü",
                "http://xn--bcher-kva.example/%C3%BC",
            ),
        ],
        "expected an absolute URL (URL Standard: ",
        &["", "/path", "example.com", "http://", "http://[::1"],
    );
}

#[test]
fn codes() {
    let rule = "(ISO 3166-1 alpha-2)";
    check::<CountryCode>(
        &[("ch", "CH"), ("US", "US")],
        rule,
        &["", "C", "UK", "XX", "CHE", "ÇH"],
    );

    check::<CurrencyCode>(
        &[("eur", "EUR"), ("XXX", "XXX")],
        "(ISO 4217)",
        &["", "EU", "EURO", "ABC"],
    );

    check::<LanguageCode>(
        &[("DE", "de"), ("zu", "zu")],
        "(ISO 639-1)",
        &["", "deu", "xx", "bh"],
    );

    check::<Timezone>(
        &[
            ("europe/zurich", "Europe/Zurich"),
            ("UTC", "UTC"),
            ("US/Pacific", "US/Pacific"),
        ],
        "(IANA time zone database)",
        &["", "Europe/Atlantis", "+02:00", "Europe"],
    );

    check::<LocaleCode>(
        &[
            ("de-ch", "de-CH"),
            ("zh-HANT-tw", "zh-Hant-TW"),
            ("es-419", "es-419"),
            ("de-CH-1996", "de-CH-1996"),
        ],
        "(BCP 47)",
        &["", "de_CH", "d", "de-", "de-CH-"],
    );

    assert_eq!(
        "es-419".parse::<LocaleCode>().unwrap().region(),
        Some("419")
    );

    assert_eq!("es".parse::<LocaleCode>().unwrap().region(), None);
}

#[test]
fn the_lists_of_codes_are_sorted() {
    use super::codes::tables::{COUNTRIES, CURRENCIES, LANGUAGES};
    assert!(
        [COUNTRIES, CURRENCIES, LANGUAGES]
            .iter()
            .all(|list| list.is_sorted_by(|a, b| a < b))
    );
    assert_eq!((COUNTRIES.len(), LANGUAGES.len()), (249, 183));
}

#[test]
fn date_ranges() {
    check::<DateRange>(
        &[
            ("[2024-01-01,2024-02-01)", "[2024-01-01,2024-02-01)"),
            ("[2024-01-01,2024-01-31]", "[2024-01-01,2024-02-01)"),
            ("(2023-12-31,2024-01-31]", "[2024-01-01,2024-02-01)"),
            ("[2024-01-01,]", "[2024-01-01,)"),
            ("[2024-01-01,infinity)", "[2024-01-01,)"),
            ("(-infinity,2024-01-01)", "(,2024-01-01)"),
            ("[,]", "(,)"),
            ("(,2024-01-01)", "(,2024-01-01)"),
            ("[2024-01-01,2024-01-01)", "empty"),
            ("(2024-01-01,2024-01-02)", "empty"),
            ("EMPTY", "empty"),
        ],
        "expected ",
        &[
            "",
            "[",
            "[)",
            "2024-01-01",
            "[2024-01-01)",
            "[2024-01-01,2024-02-30)",
            "[2024-02-01,2024-01-01)",
            "(2024-01-01,2024-01-01)",
            "[infinity,)",
            "[2024-1-1,)",
            "[0000-01-01,)",
            "[,9999-12-31]",
            "é,é",
            "[+2024-01-1,)",
            "[2024-01-01,2024-02-01,)",
        ],
    );

    let backwards = "[2024-02-01,2024-01-01)".parse::<DateRange>().unwrap_err();
    assert_eq!(
        backwards.rule(),
        "expected a lower bound that is not after the upper one"
    );

    assert!(!DateRange::EMPTY.contains("2024-01-01".parse().unwrap()));
}

#[test]
fn texts() {
    check::<LTree>(
        &same(&["", "Top", "Top.Science_1.x-y", "Ä.b"]),
        "(ltree)",
        &["a..b", ".", "a b", "a.b.", "a/b"],
    );

    check::<Color>(
        &[
            ("#0AF", "#00aaff"),
            ("#0af8", "#00aaff88"),
            ("#00AAFF", "#00aaff"),
            ("#00aaff80", "#00aaff80"),
        ],
        "(CSS Color 4)",
        &["", "#", "00aaff", "#00aaf", "#ggg", "red", "#é1"],
    );

    let versions = same(&["1.2.3", "0.0.0-alpha.1+build.5"]);
    check::<SemanticVersion>(
        &versions,
        "(SemVer 2.0.0: ",
        &["", "1.2", "v1.2.3", "01.2.3", "1.2.3-"],
    );

    check::<Slug>(
        &same(&["a", "hello-world-2"]),
        "joined by single hyphens",
        &["", "-a", "a--b", "A", "a_b", "é"],
    );

    check::<PhoneNumber>(
        &[
            ("+41 44 668-18.00", "+41446681800"),
            ("+15551234567", "+15551234567"),
        ],
        "(E.164)",
        &[
            "",
            "+",
            "0041446681800",
            "+0446681800",
            "+41 (0)44 668 18 00",
            "+123456",
            "+1234567890123456",
            "+41446681800-",
        ],
    );
}

#[test]
fn amounts() {
    check::<Money>(
        &[
            ("12.30 EUR", "12.30 EUR"),
            ("-5 chf", "-5 CHF"),
            ("0.0001 USD", "0.0001 USD"),
        ],
        "ISO 4217",
        &[
            "",
            "12.30",
            "12.30EUR",
            "12,30 EUR",
            "1e3 EUR",
            "12.30  EUR",
            "12.30 ABC",
            "99999999999999999999999999999999 EUR",
        ],
    );

    assert_eq!("12.3 EUR".parse::<Money>(), "12.30 EUR".parse());
    let printed = ("DE44 5001 0517 5407 3249 31", "DE44500105175407324931");
    check::<Iban>(
        &[
            printed,
            ("gb82west12345698765432", "GB82WEST12345698765432"),
        ],
        "IBAN",
        &["", "DE", "4412"],
    );

    check::<Iban>(&[], "mod 97-10", &["DE45500105175407324931"]);

    check::<Iban>(&[], "country", &["XX98500105175407324931", "DE13123"]);
}

#[test]
fn numbers() {
    fn recode<T: ScalarType + InputType>(number: f64) -> Result<String, String> {
        recode_scalar::<T>(Value::from(number)).map(|value| value.to_string())
    }

    assert_eq!(recode::<Latitude>(-90.0).unwrap(), "-90");
    assert_eq!(recode::<Latitude>(47.3769).unwrap(), "47.3769");
    assert_eq!(recode::<Latitude>(-0.0).unwrap(), "0");
    assert!(
        recode::<Latitude>(90.5)
            .unwrap_err()
            .contains("from -90 to 90 (RFC 5870), found 90.5")
    );

    assert_eq!(recode::<Longitude>(180.0).unwrap(), "180");
    assert!(
        recode::<Longitude>(181.0)
            .unwrap_err()
            .contains("from -180 to 180 (RFC 5870), found 181")
    );

    assert_eq!(recode::<Percentage>(33.3).unwrap(), "33.3");
    assert!(
        recode::<Percentage>(-0.5)
            .unwrap_err()
            .contains("from 0 to 100, found -0.5")
    );

    assert_eq!(recode::<Port>(65535.0).unwrap(), "65535");
    assert!(
        recode::<Port>(80.5)
            .unwrap_err()
            .contains("from 0 to 65535 (RFC 6335), found 80.5")
    );

    assert!(
        recode_scalar::<Port>(Value::from("80"))
            .unwrap_err()
            .contains("found \"80\"")
    );

    assert_eq!("80".parse::<Port>().unwrap(), Port::from(80));
    assert_eq!(serde_json::to_value(Port::from(80)).unwrap(), json!(80));
    assert!(serde_json::from_value::<Percentage>(json!(101)).is_err());

    assert!(
        "NaN"
            .parse::<Latitude>()
            .unwrap_err()
            .to_string()
            .contains("found \"NaN\"")
    );
}

#[test]
fn a_long_value_is_shortened() {
    let error = "A".repeat(1000).parse::<Slug>().unwrap_err().to_string();
    assert!(error.len() < 200, "{error}");
}
