//! `real`, whose values mean the decimal that PostgreSQL writes for them: the shortest that no
//! other `real` is nearer to.

/// All integers below this are values of `real`, and their shortest decimals.
const EXACT: f32 = 16_777_216.0;

/// The number that a `real` means.
pub fn shortest_decimal(value: f32) -> f64 {
    if value.fract() == 0.0 && value.abs() < EXACT || !value.is_finite() {
        return value.into();
    }
    // What was just written is a number.
    zmij::Buffer::new()
        .format_finite(value)
        .parse()
        .unwrap_or_else(|_| value.into())
}

/// Whether a number lies between two values of `real`.
pub fn is_between_reals(text: &str) -> bool {
    let Ok(number) = text.parse::<f64>() else {
        return false;
    };
    !number.is_nan()
        && shortest_decimal(nearest(number))
            .total_cmp(&(number + 0.0))
            .is_ne()
}

/// The last `real` that is not after a number.
pub fn to_real(text: &str) -> String {
    let Ok(number) = text.parse::<f64>() else {
        return text.to_owned();
    };

    let near = nearest(number);
    let below = if shortest_decimal(near) > number {
        near.next_down()
    } else {
        near
    };

    // `Infinity` itself is a `real` and never gets here, so the value is below all finite ones.
    if below.is_infinite() {
        "-Infinity".to_owned()
    } else {
        below.to_string()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest is asked for")]
fn nearest(number: f64) -> f32 {
    // Minus zero is zero.
    (number + 0.0) as f32
}

#[cfg(test)]
mod tests {
    use super::{is_between_reals, shortest_decimal, to_real};

    #[test]
    fn a_real_means_its_shortest_decimal() {
        for (value, number) in [
            (0.1, 0.1),
            (-0.1, -0.1),
            (16_777_216.0, 16_777_216.0),
            (123_456_789.0, 123_456_790.0),
            (1e10, 1e10),
            (f32::MAX, 3.4028235e38),
            (f32::MIN_POSITIVE, 1.1754944e-38),
        ] {
            assert_eq!(shortest_decimal(value), number);
            assert!(!is_between_reals(&number.to_string()), "{number}");
        }
    }

    #[test]
    fn other_numbers_are_between_two_reals() {
        for (text, below) in [
            ("0.10000000149011612", 0.1),
            ("0.09999999", 0.09999999),
            ("0.099999999999", 0.1f32.next_down()),
            ("16777217", 16_777_216.0),
            ("1e39", f32::MAX),
            ("-1e39", f32::NEG_INFINITY),
            ("1e-50", 0.0),
            ("-1e-50", -f32::from_bits(1)),
        ] {
            assert_eq!(is_between_reals(text), text != "0.09999999", "{text}");
            assert_eq!(to_real(text).parse::<f32>().unwrap(), below, "{text}");
        }

        for text in ["0", "-0", "0.0", "-0.0", "x"] {
            assert!(!is_between_reals(text), "{text}");
        }
    }
}
