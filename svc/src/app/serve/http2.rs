//! HTTP/2 streams: each is a task, which ends if its client accepts nothing of the response.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Response;
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use super::activity::{Activity, ENOUGH};

/// The bytes of a response that a stream gets at once. It holds them even if its client reads
/// nothing, so they are few.
const CHUNK: usize = 16 * 1024;
/// The number of canceled requests after which the share of canceled requests is checked.
const MAX_RESETS: u32 = 100;

tokio::task_local! {
    /// The response of the stream whose task runs.
    static PROGRESS: Arc<Progress>;
}

/// The progress of a stream's response.
#[derive(Debug, Default)]
struct Progress {
    has_begun: AtomicBool,
    /// Whether a piece is waiting for the client to accept it.
    is_offered: AtomicBool,
    taken: AtomicU64,
}

/// Runs the streams of one connection.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    activity: Arc<Activity>,
    write_timeout: Duration,
}

impl Streams {
    pub(super) fn new(activity: Arc<Activity>, write_timeout: Duration) -> Self {
        Self {
            activity,
            write_timeout,
        }
    }
}

impl<F: Future + Send + 'static> hyper::rt::Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let progress = Arc::<Progress>::default();
        self.activity.stream_opened();
        let open = Open {
            activity: self.activity.clone(),
            progress: progress.clone(),
        };

        let stream = PROGRESS.scope(progress, stream);
        let write_timeout = self.write_timeout;

        tokio::spawn(async move { until_stalled(stream, &open.progress, write_timeout).await });
    }
}

/// An open stream.
struct Open {
    activity: Arc<Activity>,
    progress: Arc<Progress>,
}

impl Drop for Open {
    fn drop(&mut self) {
        // A stream that ends without a response was reset by its client. Requests that are reset at
        // once cost much and count for no stream limit (Rapid Reset, CVE-2023-44487).
        let given_up = !self.progress.has_begun.load(Ordering::Relaxed);
        self.activity.stream_closed(given_up, MAX_RESETS);
    }
}

/// Runs a stream to its end, or until its client has accepted too little of the response for too
/// long.
async fn until_stalled(stream: impl Future, progress: &Progress, timeout: Duration) {
    let mut stream = pin!(stream);
    let mut stall = None;
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }

        // A response that the client accepts at once never gets here with a piece offered, and
        // needs no timer.
        if !progress.is_offered.load(Ordering::Relaxed) {
            stall = None;
            return Poll::Pending;
        }

        loop {
            let taken = progress.taken.load(Ordering::Relaxed);
            let (before, timer): &mut (u64, Pin<Box<Sleep>>) =
                stall.get_or_insert_with(|| (taken, Box::pin(tokio::time::sleep(timeout))));
            ready!(timer.as_mut().poll(cx));
            if taken - *before < ENOUGH {
                return Poll::Ready(());
            }
            stall = None;
        }
    })
    .await;
}

/// Splits the response into pieces for its stream.
pub(super) fn in_pieces(response: Response<Body>) -> Response<Body> {
    // The progress is not checked if the task is not one of ours.
    let progress = PROGRESS.try_with(Arc::clone).unwrap_or_default();
    progress.has_begun.store(true, Ordering::Relaxed);
    if response.body().is_end_stream() {
        return response;
    }

    response.map(|body| {
        Body::new(Pieces {
            body,
            rest: Bytes::new(),
            is_split: false,
            progress,
        })
    })
}

/// A body in pieces of a bounded size.
#[derive(Debug)]
struct Pieces {
    body: Body,
    rest: Bytes,
    /// Whether a piece was already split off the current chunk.
    is_split: bool,
    progress: Arc<Progress>,
}

impl Pieces {
    fn next(&mut self) -> Bytes {
        if self.rest.len() > CHUNK {
            self.is_split = true;
            return self.rest.split_to(CHUNK);
        }

        let last = std::mem::take(&mut self.rest);

        // Copies the last piece, because the piece itself would keep the whole response in memory.
        if std::mem::take(&mut self.is_split) {
            Bytes::copy_from_slice(&last)
        } else {
            last
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if this.rest.is_empty() {
            // hyper polls for more only after the earlier piece has left, so a wait from here on is
            // for the application and not for the client.
            this.progress.is_offered.store(false, Ordering::Relaxed);
            match ready!(Pin::new(&mut this.body).poll_frame(cx))
                .map(|frame| frame.map(Frame::into_data))
            {
                Some(Ok(Ok(data))) => this.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }

        let piece = this.next();
        this.progress.is_offered.store(true, Ordering::Relaxed);
        this.progress
            .taken
            .fetch_add(piece.len() as u64, Ordering::Relaxed);

        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        let (lower, upper) = (hint.lower(), hint.upper());
        if let Some(upper) = upper {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(lower + rest);
        hint
    }
}
