//! Named checks, and their execution.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{CheckReport, HealthReport};
use svc_core::error::ErrorIds;
use svc_core::{Error, ErrorCode, Result};
use svc_postgres::Database;
use svc_telemetry::error_tracker::{self, Facts};

/// The maximum time of a check.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Named checks of the dependencies of a service. Clones share the application.
#[derive(Clone, Default)]
#[must_use = "run the checks, or give them to the `AppOptions`"]
pub struct HealthCheck {
    checks: Vec<(String, Check)>,
    context: HealthContext,
    /// The last report for `/ready`, and its time.
    last: Arc<Mutex<Option<(Instant, HealthReport)>>>,
}

/// For how long `/ready` reuses a report.
const RECENT: Duration = Duration::from_secs(1);

type Check = Arc<dyn Fn(HealthContext) -> BoxFuture<'static, Result<Value>> + Send + Sync>;

/// The application's state available to checks.
#[derive(Clone, Default)]
pub struct HealthContext {
    database: Arc<OnceLock<Weak<Database>>>,
}

impl HealthContext {
    /// Returns the database of the application.
    ///
    /// # Errors
    /// When there is none yet.
    pub(super) fn database(&self) -> Result<Arc<Database>> {
        self.database.get().and_then(Weak::upgrade).ok_or_else(|| {
            let message =
                "there is no application; give the checks to the `AppOptions` and create it";
            Error::new(ErrorCode::ServiceUnavailable, message)
        })
    }
}

impl HealthCheck {
    /// Creates a health check without checks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check, replacing one with the same name. It fails with an error, or when it takes
    /// longer than five seconds; `/ready` shows the error's message in the form for clients. The
    /// value that it returns appears only in the report of [`run_checks`](Self::run_checks).
    pub fn add_check<T, F, R>(mut self, name: impl Into<String>, check: F) -> Self
    where
        T: Into<Value>,
        F: Fn(HealthContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
    {
        let name = name.into();
        let check: Check = Arc::new(move |context| {
            let checking = check(context);
            async move { checking.await.map(Into::into) }.boxed()
        });
        self.checks.retain(|(known, _)| *known != name);
        self.checks.push((name, check));

        // Clones with other checks have other reports.
        self.last = Arc::default();

        self
    }

    /// Runs all checks concurrently.
    pub async fn run_checks(&self) -> HealthReport {
        let reports = self
            .checks
            .iter()
            .map(|(name, check)| async move { (name.clone(), self.run(name, check).await) });
        HealthReport::new(join_all(reports).await.into_iter().collect())
    }

    /// Runs all checks, unless they ran a moment ago: any client may call `/ready` as often as it
    /// likes.
    pub(crate) async fn recent_report(&self) -> HealthReport {
        // Held while the checks run: concurrent probes wait for one run instead of starting one
        // each.
        let mut last = self.last.lock().await;
        match &*last {
            Some((at, report)) if at.elapsed() < RECENT => report.clone(),
            _ => {
                let report = self.run_checks().await;
                *last = Some((Instant::now(), report.clone()));
                report
            }
        }
    }

    /// Binds the checks to an application.
    pub(crate) fn bind(&self, database: &Arc<Database>) {
        // Of several applications, the first is used.
        let _ = self.context.database.set(Arc::downgrade(database));
    }

    async fn run(&self, name: &str, check: &Check) -> CheckReport {
        let context = self.context.clone();

        // The block contains the call as well, because a check may panic before it returns a
        // future.
        let checking = AssertUnwindSafe(async { check(context).await }).catch_unwind();
        match timeout(TIMEOUT, checking).await {
            Ok(Ok(Ok(details))) => CheckReport::passed(details),
            Ok(Ok(Err(error))) => {
                let ids = ErrorIds::new();
                error_tracker::capture(
                    &ids,
                    error.raised(),
                    name,
                    &error.chain(),
                    1,
                    &Facts::default(),
                );

                tracing::warn!(check = name, error_id = %ids.error, error = error.chain(), "a health check failed");

                if error.is_masked() {
                    CheckReport::masked(ids.error)
                } else {
                    CheckReport::failed(error.message())
                }
            }
            Ok(Err(panic)) => {
                let what = format!("the health check {name:?}");
                CheckReport::masked(svc_telemetry::panic::report(
                    &what,
                    svc_telemetry::panic::message(&*panic),
                ))
            }
            Err(_) => {
                CheckReport::failed(&format!("no answer within {} seconds", TIMEOUT.as_secs()))
            }
        }
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.checks.iter().map(|(name, _)| name))
            .finish()
    }
}

impl fmt::Debug for HealthContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthContext").finish_non_exhaustive()
    }
}
