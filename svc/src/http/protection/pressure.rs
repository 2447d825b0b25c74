//! Whether far more requests arrive than can be answered: then few are admitted, and those hardly
//! wait.

/// The number of windows after which the service tries whether all requests could be answered if
/// they waited. Clients that retry at once after a rejection create a load out of nothing, which
/// ends as soon as they may wait.
const TRIAL: u32 = 300;

/// The pressure during the next window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pressure {
    #[default]
    Low,
    /// Most requests are rejected, so admitted ones should be answered soon. With the number of
    /// windows since then.
    High(u32),
}

impl Pressure {
    /// Returns the pressure after a window with these numbers of rejected and answered requests. It
    /// becomes high at a quarter of rejections, and stays high until they are below an eighth, so
    /// that it does not oscillate: short waits cause more rejections.
    pub(super) fn after(self, refused: u64, answered: u64) -> Self {
        let all = refused + answered;
        let part = if self.is_high() && !self.is_trial() {
            8
        } else {
            4
        };

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

    /// Whether requests may wait longer for one window.
    pub(super) fn is_trial(self) -> bool {
        matches!(self, Self::High(windows) if windows % TRIAL == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Pressure;

    #[test]
    fn pressure_has_hysteresis() {
        let mut pressure = Pressure::Low;
        let mut is_high = |refused: u64| {
            pressure = pressure.after(refused, 100 - refused);
            pressure.is_high()
        };

        assert_eq!(
            [24, 25, 13, 12, 24].map(&mut is_high),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn high_pressure_is_interrupted_by_trials() {
        let mut pressure = Pressure::Low;
        let mut trials = 0;
        for _ in 0..1_000 {
            pressure = pressure.after(90, 10);
            trials += u32::from(pressure.is_trial());
        }

        assert_eq!((pressure.is_high(), trials), (true, 3));

        // Because requests waited, only a fifth was rejected.
        let trial = Pressure::High(300);

        assert_eq!(
            (trial.is_trial(), trial.after(20, 80)),
            (true, Pressure::Low)
        );
    }

    #[test]
    fn a_window_without_requests_is_no_pressure() {
        assert_eq!(Pressure::Low.after(0, 0), Pressure::Low);
    }
}
