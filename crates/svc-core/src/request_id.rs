//! The identifier of a request, which links its response to the logs.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// The header that carries it, in requests and responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an identifier from a client or a proxy.
const MAX_LENGTH: usize = 128;

/// The identifier of a request: that of its `X-Request-Id`, or a new one if it has no usable one.
/// It is included in the response, and in the logged errors of the request.
///
/// ```
/// use svc::prelude::*;
///
/// #[svc::query]
/// fn hello() -> String {
///     let id = svc::RequestId::current();
///     format!("this is request {}", id.as_ref().map_or("?", svc::RequestId::as_str))
/// }
/// # drop(queries![hello]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Text);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Given(HeaderValue),
    /// Stored inline, as it is copied each time that the request is polled.
    New([u8; DIGITS]),
}

/// The number of hexadecimal digits of a new identifier.
const DIGITS: usize = 32;

tokio::task_local! {
    static CURRENT: RequestId;
}

impl RequestId {
    /// Returns the identifier of the request that this task handles; `None` outside of requests, in
    /// tasks that a resolver has spawned, and if `SVC_REQUEST_IDS` is off.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Returns the identifier as text.
    pub fn as_str(&self) -> &str {
        // Both are visible ASCII.
        match &self.0 {
            Text::Given(value) => value.to_str().unwrap_or_default(),
            Text::New(digits) => std::str::from_utf8(digits).unwrap_or_default(),
        }
    }

    /// Returns the identifier for a request with these headers.
    #[doc(hidden)]
    pub fn of(headers: &HeaderMap) -> Self {
        Self::given(headers).unwrap_or_else(Self::fresh)
    }

    /// Returns a new identifier, for a request without one.
    #[doc(hidden)]
    pub fn fresh() -> Self {
        Self(Text::New(unused()))
    }

    /// Returns the identifier in these headers, if it is usable.
    #[doc(hidden)]
    pub fn given(headers: &HeaderMap) -> Option<Self> {
        let given = headers
            .get(HEADER)
            .filter(|given| is_usable(given.as_bytes()))?;
        // The clone shares the bytes of the header.
        Some(Self(Text::Given(given.clone())))
    }

    /// Returns the identifier in a response.
    #[doc(hidden)]
    pub fn said(header: Option<&HeaderValue>) -> Option<Self> {
        header.map(|value| Self(Text::Given(value.clone())))
    }

    /// Returns the identifier as a header value.
    #[doc(hidden)]
    pub fn into_header(self) -> HeaderValue {
        match self.0 {
            Text::Given(value) => value,
            // Hexadecimal digits are always a valid value of a header.
            Text::New(digits) => HeaderValue::from_bytes(&digits)
                .unwrap_or(const { HeaderValue::from_static("unknown") }),
        }
    }

    /// Runs the future of a request, with its identifier if it has one.
    #[doc(hidden)]
    pub async fn scope<F: Future>(id: Option<&Self>, mut answering: Pin<&mut F>) -> F::Output {
        let Some(id) = id else { return answering.await };
        poll_fn(|cx| {
            // Stored here, because the scope would move the output twice.
            let mut polled = Poll::Pending;
            Self::within(Some(id), || polled = answering.as_mut().poll(cx));
            polled
        })
        .await
    }

    /// Runs a function of a request, with its identifier if it has one.
    #[doc(hidden)]
    pub fn within<T>(id: Option<&Self>, work: impl FnOnce() -> T) -> T {
        match id {
            Some(id) => CURRENT.sync_scope(id.clone(), work),
            None => work(),
        }
    }
}

/// Returns the digits of an unused identifier. Generating random bytes each time would cost more
/// than everything else.
fn unused() -> [u8; DIGITS] {
    // The second half of a UUID of version 4 has 62 random bits, the first only 60.
    static PROCESS: LazyLock<[u8; DIGITS / 2]> =
        LazyLock::new(|| digits(Uuid::new_v4().as_u64_pair().1));
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut unused = [0; DIGITS];
    let (process, number) = unused.split_at_mut(DIGITS / 2);
    process.copy_from_slice(&PROCESS[..]);
    number.copy_from_slice(&digits(NEXT.fetch_add(1, Ordering::Relaxed)));
    unused
}

fn digits(number: u64) -> [u8; DIGITS / 2] {
    let mut digits = [0; DIGITS / 2];
    // The buffer is large enough.
    let _ = hex::encode_to_slice(number.to_be_bytes(), &mut digits);
    digits
}

/// Whether an identifier is safe in a log line without escaping.
fn is_usable(given: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(byte);
    (1..=MAX_LENGTH).contains(&given.len()) && given.iter().all(is_plain)
}
