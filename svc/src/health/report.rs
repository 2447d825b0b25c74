//! The results of health checks.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// Whether the service is healthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum HealthStatus {
    /// All checks have passed.
    Healthy,
    /// A check has failed.
    Degraded,
}

/// The results of all checks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HealthReport {
    /// Healthy if all checks have passed.
    pub status: HealthStatus,
    /// The result of each check, by name.
    pub checks: BTreeMap<String, CheckReport>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// Whether the check has passed.
    pub status: HealthStatus,
    /// The reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The identifier of the reason in the log, if clients may not see the reason.
    #[serde(rename = "errorId", skip_serializing_if = "Option::is_none")]
    pub error_id: Option<String>,
    /// Additional findings.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl HealthReport {
    pub(super) fn new(checks: BTreeMap<String, CheckReport>) -> Self {
        let is_healthy = checks
            .values()
            .all(|check| check.status == HealthStatus::Healthy);
        Self {
            status: if is_healthy {
                HealthStatus::Healthy
            } else {
                HealthStatus::Degraded
            },
            checks,
        }
    }
}

impl CheckReport {
    pub(super) fn passed(details: Value) -> Self {
        Self {
            status: HealthStatus::Healthy,
            message: None,
            error_id: None,
            details,
        }
    }

    pub(super) fn failed(message: &str) -> Self {
        let message = Some(message.to_owned());
        Self {
            status: HealthStatus::Degraded,
            message,
            error_id: None,
            details: Value::Null,
        }
    }

    /// Creates the report of a check whose error is only in the log, under this identifier.
    pub(super) fn masked(id: Uuid) -> Self {
        Self {
            error_id: Some(id.to_string()),
            ..Self::failed("internal server error")
        }
    }
}
