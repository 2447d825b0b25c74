//! Adaptive concurrency limit (gradient algorithm, after Netflix' `concurrency-limits`).
//!
//! It compares the current latency of requests with their latency at low load (the baseline). If
//! they take more than twice as long, they wait for each other, and a lower limit would answer them
//! as fast. The baseline is measured again from time to time, with less than half of the limit: a
//! limit that is too high is then detected, regardless of the earlier baseline. Such a probe is
//! worthwhile only if requests are rejected or wait long anyway. If requests take long although
//! hardly any run, the work itself has become slower.

/// The number of windows after which the baseline is measured again.
const PERIOD: u32 = 30;
/// The number of windows before the first measurement.
const FIRST: u32 = 5;
/// The number of windows of a probe: requests from before the probe end in the first, and requests
/// of the second are measured.
const PROBE: u32 = 2;
/// The fraction of the limit that applies during a probe; multiplied by the tolerance it is below
/// one.
const PROBED: f64 = 0.25;
/// The maximum latency as a multiple of the baseline; the second value applies if most requests are
/// rejected anyway.
const TOLERANCE: [f64; 2] = [2.0, 1.5];
/// If a probe measures less than this fraction of the earlier baseline, it may not have found the
/// minimum yet, and the next probe follows soon.
const FOUND: f64 = 0.8;
/// The fractions of a change of the limit that take effect at once: of a decrease, and of an
/// increase.
const SMOOTHING: [f64; 2] = [0.7, 0.5];
/// The minimum limit if most requests are rejected anyway.
const MIN_UNDER_PRESSURE: f64 = 2.0;
/// The number of windows at the minimum limit after which slow requests are attributed to slow
/// work.
const STUCK: u32 = 5;

/// The statistics of the requests that ended in a window of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Their mean latency, in any unit.
    pub(super) mean: f64,
    /// The maximum number of concurrent requests.
    pub(super) peak: usize,
    /// Whether a lower limit for a moment would not be the cause of rejections.
    pub(super) may_probe: bool,
    /// Whether so many requests are rejected that the limit may fall until the others hardly delay
    /// each other.
    pub(super) is_pressed: bool,
}

/// The limit, and the state that it is derived from.
#[derive(Debug)]
pub(super) struct Gradient {
    limit: f64,
    least: f64,
    most: f64,
    /// The lowest mean latency of this period, and of the previous one.
    quiet: [f64; 2],
    windows: u32,
    /// The number of consecutive slow windows at the minimum limit.
    stuck: u32,
    /// Whether a window of this period permits a probe.
    may_probe: bool,
    is_pressed: bool,
}

impl Gradient {
    /// Creates a limit between `least` and `most`, which starts at `most`.
    pub(super) fn new(least: usize, most: usize) -> Self {
        let (least, most) = (least.min(most) as f64, most as f64);
        Self {
            limit: most,
            least,
            most,
            quiet: [f64::INFINITY; 2],
            windows: PERIOD - FIRST,
            stuck: 0,
            may_probe: false,
            is_pressed: false,
        }
    }

    /// Returns the limit after one more window.
    pub(super) fn after(&mut self, window: Window) -> usize {
        self.windows += 1;
        self.may_probe |= window.may_probe;

        // Under new pressure the limit is probably too high, so the next probe comes soon.
        if window.is_pressed && !self.is_pressed {
            self.windows = self.windows.max(PERIOD - FIRST);
        }

        self.is_pressed = window.is_pressed;
        let known = self.quiet[0].min(self.quiet[1]);

        // The first window of a probe still contains the queue from before the probe.
        if self.windows != PERIOD + 1 {
            self.quiet[0] = self.quiet[0].min(window.mean);
        }

        if self.windows <= PERIOD {
            self.follow(window);
        }

        // Below the limit, requests do not wait for a permit, and a probe would cost throughput
        // without a finding.
        let is_probed = self.may_probe && window.peak as f64 >= self.limit * 0.9;
        if self.windows >= PERIOD + PROBE {
            self.begin(if window.mean < known * FOUND {
                PERIOD - FIRST
            } else {
                0
            });
        } else if self.windows == PERIOD && !is_probed {
            self.begin(0);
        }

        let part = if self.windows >= PERIOD { PROBED } else { 1.0 };

        whole(self.limit * part)
    }

    /// Starts a period, skipping its first `windows` windows.
    fn begin(&mut self, windows: u32) {
        self.quiet = [f64::INFINITY, self.quiet[0]];
        (self.windows, self.may_probe) = (windows, false);
    }

    /// Returns the latency at low load, in the unit of the windows.
    pub(super) fn undisturbed(&self) -> f64 {
        let quiet = self.quiet[0].min(self.quiet[1]);
        if quiet.is_finite() { quiet } else { 0.0 }
    }

    fn follow(
        &mut self,
        Window {
            mean,
            peak,
            is_pressed,
            ..
        }: Window,
    ) {
        // The latency belongs to the requests that ran, which may be far fewer than the limit
        // allows.
        let used = self.limit.min(peak as f64);
        let quiet = self.quiet[0].min(self.quiet[1]);
        let least = if is_pressed {
            self.least.min(MIN_UNDER_PRESSURE)
        } else {
            self.least
        };

        self.limit = self.limit.max(least);
        let tolerance = TOLERANCE[usize::from(is_pressed)];
        let gradient = (tolerance * quiet / mean.max(f64::MIN_POSITIVE)).clamp(0.5, 1.0);
        self.stuck = if gradient < 1.0 && self.limit <= least + 0.5 {
            self.stuck + 1
        } else {
            0
        };

        if self.stuck >= STUCK {
            // The next probe re-measures the baseline latency.
            (self.quiet, self.stuck, self.windows) = ([mean; 2], 0, PERIOD - FIRST);
            return;
        }

        // Room for a short queue; without it the limit could never grow.
        let room = |from: f64| if is_pressed { 0.5 } else { from.sqrt() };
        let wanted = |from: f64| (from * gradient + room(from)).clamp(least, self.most);

        if gradient < 1.0 && used > least && wanted(used) < self.limit {
            self.limit += (wanted(used) - self.limit) * SMOOTHING[0];
        } else if used >= self.limit / 2.0 && wanted(self.limit) > self.limit {
            self.limit += (wanted(self.limit) - self.limit) * SMOOTHING[1];
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit is a small number"
)]
fn whole(limit: f64) -> usize {
    limit.round().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a service that runs `slots` requests at once, each for `time`; the others in
    /// flight wait. Returns the limit after each window, if there are always more requests than the
    /// limit.
    fn overloaded(gradient: &mut Gradient, slots: f64, time: f64, windows: usize) -> Vec<usize> {
        let mut limit = whole(gradient.limit);
        let mut limits = Vec::new();
        for _ in 0..windows {
            let mean = time * (limit as f64 / slots).max(1.0);
            limit = gradient.after(Window {
                mean,
                peak: limit,
                may_probe: true,
                is_pressed: false,
            });
            limits.push(limit);
        }

        limits
    }

    #[test]
    fn the_limit_falls_to_the_served_load_and_stays_there() {
        let mut gradient = Gradient::new(16, 256);
        for _ in 0..20 {
            assert_eq!(
                gradient.after(Window {
                    mean: 1.0,
                    peak: 2,
                    may_probe: true,
                    is_pressed: false
                }),
                256,
                "nothing is going on"
            );
        }

        let limits = overloaded(&mut gradient, 8.0, 1.0, 600);
        let last = &limits[20..];
        let probed = last.iter().filter(|limit| **limit < 16).count();

        assert!(
            last.iter().all(|limit| (4..=32).contains(limit)) && probed * 10 < last.len(),
            "{last:?}"
        );
    }

    #[test]
    fn work_that_gets_slower_is_not_taken_for_a_queue() {
        let mut gradient = Gradient::new(16, 256);
        overloaded(&mut gradient, 64.0, 1.0, 300);
        let slower = overloaded(&mut gradient, 64.0, 10.0, 200);

        // The median, because probes come in between.
        let usual = |limits: &[usize]| {
            let mut limits = limits.to_vec();
            limits.sort_unstable();
            limits[limits.len() / 2]
        };

        assert!((64..=192).contains(&usual(&slower[100..])), "{slower:?}");
        let recovered = overloaded(&mut gradient, 64.0, 1.0, 50);

        assert!((64..=256).contains(&usual(&recovered)), "{recovered:?}");
    }

    #[test]
    fn a_service_that_is_hardly_used_keeps_its_limit() {
        let mut gradient = Gradient::new(16, 256);
        for window in 0..500 {
            // Some requests take a hundred times as long as others.
            let mean = if window % 3 == 0 { 100.0 } else { 1.0 };
            assert_eq!(
                gradient.after(Window {
                    mean,
                    peak: 10,
                    may_probe: true,
                    is_pressed: false
                }),
                256
            );
        }
    }

    #[test]
    fn a_probe_alone_refuses_no_request() {
        let mut gradient = Gradient::new(8, 256);
        overloaded(&mut gradient, 2.0, 1.0, 300);

        // Sixteen clients that wait for their responses; none of them is rejected any more.
        let mut limit = 8;
        for window in 0..300 {
            let running = limit.min(16);
            limit = gradient.after(Window {
                mean: running as f64 / 2.0,
                peak: running,
                may_probe: false,
                is_pressed: false,
            });

            // The period of the last rejection may end with a probe.
            assert!(
                limit >= 8 || window <= PERIOD + PROBE,
                "{limit} in window {window}"
            );
        }
    }
}
