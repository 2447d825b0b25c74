//! A stream of items that a future hands out one by one while it runs.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::BoxFuture;

/// The items that a future hands out. The future runs when the next item is requested, and ends
/// when this stream is dropped.
pub(super) struct Answers<T> {
    run: Option<BoxFuture<'static, ()>>,
    place: Arc<Place<T>>,
}

/// The slot for the last item handed out. It is empty most of the time, so the item is boxed to
/// reserve no space for it.
type Place<T> = Mutex<Option<Box<T>>>;

/// The future's end of the stream.
pub(super) struct Giver<T>(Arc<Place<T>>);

impl<T: Send + 'static> Answers<T> {
    pub(super) fn new<F>(run: impl FnOnce(Giver<T>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let place = Arc::<Place<T>>::default();
        Self {
            run: Some(Box::pin(run(Giver(place.clone())))),
            place,
        }
    }
}

impl<T> Giver<T> {
    /// Hands out an item immediately, so that the future reserves no space for it, and waits until
    /// the next one is requested.
    pub(super) fn give(&self, item: T) -> impl Future<Output = ()> + use<'_, T> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(item));
        poll_fn(|_| {
            match self
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_none()
            {
                true => Poll::Ready(()),
                // The consumer that takes the item polls again for the next one.
                false => Poll::Pending,
            }
        })
    }
}

impl<T> Stream for Answers<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(run) = &mut self.run else {
            return Poll::Ready(None);
        };

        let is_over = run.as_mut().poll(cx).is_ready();
        if is_over {
            self.run = None;
        }

        match self
            .place
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            Some(item) => Poll::Ready(Some(*item)),
            None if is_over => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
