//! Builds without sqlx, which have no statistics: nobody asks for the root fields of statements.

/// Whether root fields are noted.
pub(crate) fn is_attributing() -> bool {
    false
}

/// Runs a root field.
pub(crate) async fn attribute<T>(_: &str, run: impl Future<Output = T>) -> T {
    run.await
}

/// A statement runs.
pub(crate) fn ran(_: &str) {}
