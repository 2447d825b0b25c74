//! Medians, and how well they are known.

/// The median.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    values[values.len() / 2]
}

/// The interval that holds the true median with 95 %: two of the values, as far from the middle as
/// it asks for (David and Nagaraja, Order Statistics, section 7.1).
pub(crate) fn interval(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values = sorted(values);
    let (middle, reach) = (
        values.len() as f64 / 2.0,
        0.98 * (values.len() as f64).sqrt(),
    );
    let last = values.len() - 1;
    (
        values[(middle - reach).floor().max(0.0) as usize],
        values[last.min((middle + reach).floor() as usize)],
    )
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}
