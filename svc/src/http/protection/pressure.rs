//! Whether more requests come than can be answered, by far: then those that are let in are few, and wait hardly.

/// The windows after which it is tried whether all could be answered if they waited. Clients that come back at once when
/// they are refused make a load out of nothing, which ends as soon as they may wait.
const TRIAL: u32 = 300;

/// The pressure under which the next window stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pressure {
    #[default]
    Low,
    /// Most are refused, so who is let in is to be answered soon. With the windows since it is so.
    High(u32),
}

impl Pressure {
    /// The pressure after a window with so many refused and answered. It is high from a quarter of refusals on, and until
    /// it is below an eighth, so that it does not swing: where nobody waits for long, more are refused.
    pub(super) fn after(self, refused: u64, answered: u64) -> Self {
        let all = refused + answered;
        let part = if self.is_high() && !self.is_trial() { 8 } else { 4 };
        if all == 0 || refused * part < all {
            return Self::Low;
        }
        match self {
            Self::Low => Self::High(1),
            Self::High(windows) => Self::High(windows + 1),
        }
    }

    pub(super) fn is_high(self) -> bool {
        self != Self::Low
    }

    /// Whether requests may wait for longer for a window.
    pub(super) fn is_trial(self) -> bool {
        matches!(self, Self::High(windows) if windows % TRIAL == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Pressure;

    #[test]
    fn it_does_not_swing() {
        let mut pressure = Pressure::Low;
        let mut is_high = |refused: u64| {
            pressure = pressure.after(refused, 100 - refused);
            pressure.is_high()
        };
        assert_eq!([24, 25, 13, 12, 24].map(&mut is_high), [false, true, true, false, false]);
    }

    #[test]
    fn now_and_then_all_may_wait_again() {
        let mut pressure = Pressure::Low;
        let mut trials = 0;
        for _ in 0..1_000 {
            pressure = pressure.after(90, 10);
            trials += u32::from(pressure.is_trial());
        }
        assert_eq!((pressure.is_high(), trials), (true, 3));
        // As they waited, a fifth was refused only.
        let trial = Pressure::High(300);
        assert_eq!((trial.is_trial(), trial.after(20, 80)), (true, Pressure::Low));
    }

    #[test]
    fn a_window_without_requests_is_no_pressure() {
        assert_eq!(Pressure::Low.after(0, 0), Pressure::Low);
    }
}
