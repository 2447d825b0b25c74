//! Codes and other texts with a syntax.

use super::check;
use crate::scalar::library::codes::tables::{COUNTRIES, CURRENCIES, LANGUAGES};
use crate::scalar::library::{
    Color, CountryCode, CurrencyCode, LTree, LanguageCode, LocaleCode, PhoneNumber,
    SemanticVersion, Slug, Timezone,
};

/// Takes each text once, as it is.
fn same<'a>(texts: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    texts.iter().map(|text| (*text, *text)).collect()
}

#[test]
fn codes_are_canonical() {
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
    assert!(
        [COUNTRIES, CURRENCIES, LANGUAGES]
            .iter()
            .all(|list| list.is_sorted_by(|a, b| a < b))
    );
    assert_eq!((COUNTRIES.len(), LANGUAGES.len()), (249, 183));
}

#[test]
fn texts_are_canonical() {
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
fn a_long_value_is_shortened() {
    let error = "A".repeat(1000).parse::<Slug>().unwrap_err().to_string();
    assert!(error.len() < 200, "{error}");
}
