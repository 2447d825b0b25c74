//! Exemplars: traces of samples in the buckets of a histogram
//! (<https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md#exemplars>).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use svc_core::trace::trace_id;

/// The last trace of each bucket of a histogram. Only requests whose trace is sampled lock it.
#[derive(Debug, Default)]
pub(super) struct Exemplars(Mutex<Vec<Exemplar>>);

#[derive(Debug)]
struct Exemplar {
    bucket: usize,
    trace_id: String,
    time: Duration,
    at: SystemTime,
}

impl Exemplars {
    /// Records the current trace for a time in a bucket, if there is one.
    pub(super) fn note(&self, bucket: usize, time: Duration) {
        let Some(trace_id) = trace_id() else { return };
        let exemplar = Exemplar {
            bucket,
            trace_id,
            time,
            at: SystemTime::now(),
        };

        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|known| known.bucket == bucket) {
            Some(known) => *known = exemplar,
            None => all.push(exemplar),
        }
    }

    /// Returns the text to append to the line of each of `buckets` buckets; empty for buckets
    /// without a trace.
    pub(super) fn texts(&self, buckets: usize) -> Vec<String> {
        let mut texts = vec![String::new(); buckets];
        for Exemplar {
            bucket,
            trace_id,
            time,
            at,
        } in &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
        {
            let (time, at) = (
                time.as_secs_f64(),
                at.duration_since(UNIX_EPOCH)
                    .unwrap_or_default()
                    .as_secs_f64(),
            );
            texts[*bucket] = format!(" # {{trace_id=\"{trace_id}\"}} {time} {at:.3}");
        }

        texts
    }
}

/// Appends each text to the line of its bucket: `prometheus-client` supports exemplars only for its
/// own histograms, in which threads wait for each other.
pub(super) fn with_exemplars(text: &str, exemplars: &[String]) -> String {
    let mut exemplars = exemplars.iter();
    let mut told = String::with_capacity(text.len());

    // The list has an element for each bucket line, in the order of the text.
    for line in text.lines() {
        told.push_str(line);

        // The name ends at the brace; the value of a label may end in `_bucket` as well.
        if line
            .split_once('{')
            .is_some_and(|(name, _)| name.ends_with("_bucket"))
        {
            told.push_str(exemplars.next().map_or("", String::as_str));
        }
        told.push('\n');
    }

    told
}
