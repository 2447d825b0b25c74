//! Durations and ranges of dates.

use super::check;
use crate::scalar::library::{DateRange, Duration};

#[test]
fn durations_are_canonical() {
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
fn date_ranges_are_canonical() {
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
