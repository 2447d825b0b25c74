//! Runs a test of `#[svc::test]`.

use std::future::Future;

use tokio::runtime::Builder;

use super::database::{Database, Setup};

/// A test, as described by the macro.
#[derive(Debug)]
pub struct TestCase {
    /// The path of the function.
    pub name: &'static str,
    /// The directory of the package.
    pub folder: &'static str,
    /// The setup, with the paths and the SQL of the attribute.
    pub setup: fn(Setup) -> Setup,
}

/// The result of a test: `()` or a `Result`.
pub trait TestOutcome {
    /// Whether the test has failed.
    fn has_failed(&self) -> bool;
}

impl TestOutcome for () {
    fn has_failed(&self) -> bool {
        false
    }
}

impl<T, E> TestOutcome for Result<T, E> {
    fn has_failed(&self) -> bool {
        self.is_err()
    }
}

/// Runs a test with its own database, on its own runtime.
///
/// # Panics
/// Panics if the database of the test cannot be created.
pub fn run_test<F>(case: &TestCase, test: impl FnOnce(Database) -> F) -> F::Output
where
    F: Future<Output: TestOutcome>,
{
    let setup = (case.setup)(Setup::new().folder(case.folder));
    let database = Database::create_blocking(&setup, case.name)
        .unwrap_or_else(|error| panic!("{}", error.message()));

    // The runtime stops before the database is dropped, and the tasks and connections of services
    // with it.
    let guard = database.guard();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime =
        runtime.unwrap_or_else(|error| panic!("the runtime of the test does not start: {error}"));
    let outcome = runtime.block_on(test(database));
    if outcome.has_failed() {
        guard.test_failed();
    }

    drop(runtime);

    outcome
}
