//! Cursors: the keys of a row in the order of its list, and a mark (hash) of that order, so that a
//! cursor of another list is rejected.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::sql::Order;
use svc_postgres::DbError;

/// Encodes the cursor of a row with these keys.
pub(super) fn encode(mark: u32, keys: &[Option<&str>]) -> String {
    // Numbers and texts always have a JSON form.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(&(mark, keys)).unwrap_or_default())
}

/// Decodes the keys of a cursor.
///
/// # Errors
/// If the text is not a cursor, or is a cursor of another list.
pub(in crate::graphql) fn decode(mark: u32, cursor: &str) -> Result<Vec<Option<String>>, DbError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(cursor)
        .map_err(|_| DbError::BadCursor)?;
    let (found, keys): (u32, Vec<Option<String>>) =
        serde_json::from_slice(&bytes).map_err(|_| DbError::BadCursor)?;

    // PostgreSQL has no NUL in texts, so the key of a forged cursor would fail the statement.
    let is_text = |key: &Option<String>| key.as_ref().is_none_or(|key| !key.contains('\0'));
    if found == mark && keys.iter().all(is_text) {
        Ok(keys)
    } else {
        Err(DbError::BadCursor)
    }
}

/// Hashes the order of a list (FNV-1a, which is stable across versions).
pub(in crate::graphql) fn mark(row: &str, order: &[Order]) -> u32 {
    // The debug text of an order is part of the format of cursors: if it changes, the cursors that
    // clients hold are rejected.
    let text = format!("{row}{order:?}");
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Decodes arbitrary bytes as a list's mark and a cursor, and encodes them as the keys of a cursor.
#[cfg(any(test, fuzzing, feature = "test-support"))]
pub fn fuzz_cursor(bytes: &[u8]) {
    let (mark, text) = bytes.split_at(bytes.len().min(4));
    let mark = mark
        .iter()
        .fold(0, |mark, byte| mark << 8 | u32::from(*byte));
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };

    let round_trip = |keys: &[Option<String>]| {
        let shown: Vec<_> = keys.iter().map(Option::as_deref).collect();
        let cursor = encode(mark, &shown);
        assert_eq!(
            decode(mark, &cursor).expect("its own cursor"),
            keys,
            "{cursor}"
        );

        assert!(
            decode(!mark, &cursor).is_err(),
            "a cursor of another list: {cursor}"
        );
    };

    if let Ok(keys) = decode(mark, text) {
        round_trip(&keys);
    }

    // An empty key becomes `None`.
    let keys: Vec<_> = text
        .split('\0')
        .map(|key| (!key.is_empty()).then(|| key.to_owned()))
        .collect();

    round_trip(&keys);
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn cursors_of_other_lists_are_refused() {
        let keys = [Some("a \"b\" ü"), None];
        let cursor = encode(7, &keys);
        assert_eq!(
            decode(7, &cursor).unwrap(),
            [Some("a \"b\" ü".to_owned()), None]
        );
        assert!(decode(8, &cursor).is_err());

        for broken in [
            "",
            "%",
            "e30",
            "W10",
            &cursor[1..],
            &format!("{cursor}="),
            "WzcsWyJcdTAwMDAiXV0",
        ] {
            assert!(decode(7, broken).is_err(), "{broken}");
        }
    }
}
