//! Compressed responses.

use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate as _, SizeAbove};

/// The layer that compresses responses of a minimum size, each with the client's preference among
/// br, zstd and gzip. Event streams pass uncompressed.
pub(in crate::http) type Compression = CompressionLayer<And<SizeAbove, NotForContentType>>;

/// Compresses responses of at least `min_size` bytes.
pub(in crate::http) fn compression(min_size: u16) -> Compression {
    let events = NotForContentType::const_new("text/event-stream");
    CompressionLayer::new().compress_when(SizeAbove::new(min_size).and(events))
}
