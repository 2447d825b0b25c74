//! Medians, and their intervals.

/// Returns the median of at least one value.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

/// Returns the interval that contains the true median with a confidence of at least 95 %: two of
/// the values, at the same distance from both ends (David and Nagaraja, Order Statistics, section
/// 7.1). Five values are too few, and reach 94 %.
pub fn interval(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values = sorted(values);
    let count = values.len() as f64;
    // Counted from one.
    let rank = (count / 2.0 - 0.98 * count.sqrt()).round().max(1.0) as usize;
    (values[rank - 1], values[values.len() - rank])
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::{interval, median};

    /// The numbers from 1 up to this one, the largest first.
    fn numbers(count: u32) -> impl Iterator<Item = f64> {
        (1..=count).rev().map(f64::from)
    }

    #[test]
    fn the_median_of_an_even_number_of_values_is_between_the_middle_ones() {
        assert_eq!(median(numbers(1)), 1.0);
        assert_eq!(median(numbers(4)), 2.5);
        assert_eq!(median(numbers(5)), 3.0);
    }

    #[test]
    fn few_values_have_a_wide_interval() {
        assert_eq!(interval(numbers(1)), (1.0, 1.0));
        assert_eq!(interval(numbers(5)), (1.0, 5.0));
        assert_eq!(interval(numbers(8)), (1.0, 8.0));
        assert_eq!(interval(numbers(9)), (2.0, 8.0));
        assert_eq!(interval(numbers(201)), (87.0, 115.0));
    }

    #[test]
    fn intervals_of_six_values_or_more_reach_95_percent() {
        for count in 6..=300_u32 {
            let (low, _) = interval(numbers(count));

            // The probability that fewer than `low` of the values are below the true median.
            let (mut binomial, mut tail) = (0.5_f64.powi(count.cast_signed()), 0.0);
            for number in 0..low as u32 {
                tail += binomial;
                binomial *= f64::from(count - number) / f64::from(number + 1);
            }
            assert!(2.0 * tail <= 0.05, "{count} values: {tail}");
        }
    }
}
