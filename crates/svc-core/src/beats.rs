//! Times counted in beats, which continue at 0 after the largest number.

/// The longest time that can be measured.
pub const MAX_BEATS: u32 = u32::MAX / 2;

/// Returns the number of beats from one to another; 0 if the first is the later one.
pub fn beats_between(since: u32, now: u32) -> u32 {
    match now.wrapping_sub(since) {
        passed @ ..=MAX_BEATS => passed,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_counted_across_the_largest_number() {
        assert_eq!([beats_between(3, 3), beats_between(3, 7)], [0, 4]);
        assert_eq!(beats_between(u32::MAX - 1, 2), 4);
        assert_eq!([beats_between(4, 3), beats_between(0, u32::MAX)], [0, 0]);
    }
}
