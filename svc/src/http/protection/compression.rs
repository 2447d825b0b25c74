//! Compressed answers.

use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate as _, SizeAbove};

/// The layer that compresses answers from a size on, each with what its client prefers of br, zstd and gzip. Streams of
/// events are passed on as they come.
pub(in crate::http) type Compression = CompressionLayer<And<SizeAbove, NotForContentType>>;

/// Answers of at least so many bytes.
pub(in crate::http) fn compression(min_size: u16) -> Compression {
    let events = NotForContentType::const_new("text/event-stream");
    CompressionLayer::new().compress_when(SizeAbove::new(min_size).and(events))
}
