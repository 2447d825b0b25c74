//! Amounts of money, accounts and numbers within bounds.

use async_graphql::{InputType, ScalarType, Value};
use serde_json::json;

use super::check;
use crate::scalar::library::{Iban, Latitude, Longitude, Money, Percentage, Port};
use crate::schema::recode_scalar;

#[test]
fn amounts_are_canonical() {
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
fn numbers_have_bounds() {
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
