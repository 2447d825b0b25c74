//! Boxed futures.

use futures_util::future::BoxFuture;

/// Boxes the future that `make` returns. Made after its allocation, in a function of its own, only
/// the arguments in the future are copied there; [`boxed`](futures_util::FutureExt::boxed) copies
/// all of it, which is several kB.
#[inline(never)]
pub fn boxed_unmoved<'a, F: Future + Send + 'a>(
    make: impl FnOnce() -> F,
) -> BoxFuture<'a, F::Output> {
    let boxed: Box<F> = Box::write(Box::new_uninit(), make());
    Box::into_pin(boxed)
}

/// Like [`boxed_unmoved`], for a branch that few requests take. Cold, so that the compiler keeps
/// the branch out of the path of the others.
#[cold]
#[inline(never)]
pub fn boxed_rare<'a, F: Future + Send + 'a>(make: impl FnOnce() -> F) -> BoxFuture<'a, F::Output> {
    Box::pin(make())
}
