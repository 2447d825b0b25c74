//! The series of HTTP requests.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::{Method, StatusCode};

use super::Metrics;
use super::family::OTHER;
use super::histogram::Histogram;

/// The label of requests that match no route.
const UNMATCHED: &str = "unmatched";

/// The status of requests whose client disconnected before the response, as in nginx.
const CLIENT_GONE: &str = "499";

/// The series of one route, found without a lock and without a copy.
#[derive(Debug)]
pub(crate) struct EndpointSeries {
    path: Box<str>,
    known: ArcSwap<Vec<Known>>,
}

/// The series of a method and a status; no status for clients that have disconnected.
type Known = (Method, Option<StatusCode>, &'static Histogram);

impl EndpointSeries {
    /// Creates the series of the route with this path; `None` for requests that match no route.
    pub(crate) fn new(path: Option<&str>) -> Self {
        Self {
            path: path.unwrap_or(UNMATCHED).into(),
            known: ArcSwap::default(),
        }
    }

    /// Counts a request.
    pub(crate) fn record(
        &self,
        metrics: Metrics,
        method: &Method,
        status: Option<StatusCode>,
        time: Duration,
    ) {
        let known = self.known.load();

        // A route has few methods and statuses, so a list is searched faster than a hash is
        // computed.
        let series = known
            .iter()
            .find(|(known, of, _)| known == method && *of == status)
            .map(|(.., series)| *series);
        series
            .unwrap_or_else(|| self.add(metrics, method, status))
            .observe(time);
    }

    fn add(
        &self,
        metrics: Metrics,
        method: &Method,
        status: Option<StatusCode>,
    ) -> &'static Histogram {
        let code = status.as_ref().map_or(CLIENT_GONE, StatusCode::as_str);
        let labels = [method_label(method), &*self.path, code];
        let series = metrics
            .0
            .requests
            .get(labels, [OTHER; 3], |_| Histogram::default());

        // Clients may send arbitrary methods, which are not cached.
        if labels[0] != OTHER {
            self.known.rcu(|known| {
                // The closure runs again if another thread has changed the list, possibly by this
                // very entry.
                let others = known
                    .iter()
                    .filter(|(known, of, _)| known != method || *of != status)
                    .cloned();
                Arc::new(
                    others
                        .chain([(method.clone(), status, series)])
                        .collect::<Vec<_>>(),
                )
            });
        }

        series
    }
}

fn method_label(method: &Method) -> &str {
    let standard = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::HEAD,
        Method::OPTIONS,
        Method::CONNECT,
        Method::TRACE,
    ];

    // Older versions of `http` have no constant for `QUERY`.
    if standard.contains(method) || method.as_str() == "QUERY" {
        method.as_str()
    } else {
        OTHER
    }
}
