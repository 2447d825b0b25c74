//! Q9 to Q11 in `rows` mode: flat rows, in which a post's columns repeat for each row beside it.

use futures_util::{Stream, StreamExt};
use tokio_postgres::{Error, Row};

use super::{Raw, pair, time};

pub const TAGS: &str = "SELECT p.id, p.title, t.id, t.name
     FROM (SELECT * FROM tb_post ORDER BY created_at DESC LIMIT $1::text::int OFFSET $2::text::int) p
     LEFT JOIN LATERAL (SELECT g.id, g.name FROM tb_post_tag pt JOIN tb_tag g ON g.pk_tag = pt.fk_tag
                        WHERE pt.fk_post = p.pk_post ORDER BY g.name LIMIT 20) t ON true";

pub const PAGES: &str = "SELECT p.id, p.title, c.id, c.body, n.n
     FROM (SELECT * FROM tb_post ORDER BY created_at DESC LIMIT $1::text::int OFFSET $2::text::int) p
     CROSS JOIN LATERAL (SELECT count(*) AS n FROM tb_comment WHERE fk_post = p.pk_post) n
     LEFT JOIN LATERAL (SELECT * FROM tb_comment WHERE fk_post = p.pk_post ORDER BY created_at LIMIT 5) c ON true";

pub const COUNTS: &str = "SELECT p.id, p.title, a.n, a.latest
     FROM tb_post p CROSS JOIN LATERAL (SELECT count(*) AS n, max(created_at) AS latest FROM tb_comment WHERE fk_post = p.pk_post) a
     WHERE p.created_at >= $1::text::timestamptz AND p.created_at < $2::text::timestamptz
     ORDER BY a.n DESC, p.id DESC LIMIT 10";

pub async fn write(
    out: &mut Vec<u8>,
    n: usize,
    rows: impl Stream<Item = Result<Row, Error>>,
) -> Result<(), Error> {
    futures_util::pin_mut!(rows);
    out.extend_from_slice(br#"{"data":{"posts":["#);
    // The id of the post that is being written.
    let mut open: Option<[u8; 16]> = None;
    let end: &[u8] = match n {
        8 => b"]}",
        9 => b"]}}",
        _ => b"}",
    };
    while let Some(row) = rows.next().await {
        let row = row?;
        let id = row.get::<_, Raw>(0).0;
        let fresh = open.is_none_or(|open| open != id);
        if fresh {
            if open.is_some() {
                out.extend_from_slice(end);
                out.push(b',');
            }
            open = id.try_into().ok();
            pair(out, br#"{"id":"#, id, true);
            pair(out, br#","title":"#, row.get::<_, Raw>(1).0, false);
        }
        match n {
            8 => child(out, &row, fresh, br#","tags":["#, br#","name":"#),
            9 => {
                if fresh {
                    out.extend_from_slice(br#","commentsConnection":{"totalCount":"#);
                    out.extend_from_slice(row.get::<_, i64>(4).to_string().as_bytes());
                }
                child(out, &row, fresh, br#","nodes":["#, br#","body":"#);
            }
            _ => count(out, &row),
        }
    }
    if open.is_some() {
        out.extend_from_slice(end);
    }
    out.extend_from_slice(b"]}}");
    Ok(())
}

fn child(out: &mut Vec<u8>, row: &Row, fresh: bool, list: &[u8], text: &[u8]) {
    if fresh {
        out.extend_from_slice(list);
    }
    let Some(id) = row.get::<_, Option<Raw>>(2) else {
        return;
    };
    if !fresh {
        out.push(b',');
    }
    pair(out, br#"{"id":"#, id.0, true);
    pair(out, text, row.get::<_, Raw>(3).0, false);
    out.push(b'}');
}

fn count(out: &mut Vec<u8>, row: &Row) {
    out.extend_from_slice(br#","commentsAggregate":{"count":"#);
    out.extend_from_slice(row.get::<_, i64>(2).to_string().as_bytes());
    out.extend_from_slice(br#","max":{"createdAt":"#);
    match row.get::<_, Option<Raw>>(3) {
        Some(latest) => time(out, latest.0),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b"}}");
}
