//! Names derived from other names.

/// The table behind a view: `tb_user` behind `v_user`.
pub(crate) fn table_of(source: &str, type_name: &str) -> String {
    match source
        .strip_prefix("v_")
        .or_else(|| source.strip_prefix("tv_"))
    {
        Some(name) => format!("tb_{name}"),
        None if source.starts_with("tb_") => source.to_owned(),
        None => format!("tb_{}", snake_case(type_name)),
    }
}

/// `BlogPost` as `blog_post`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut words = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            words.push('_');
        }
        words.push(if c == '-' || c == ' ' {
            '_'
        } else {
            c.to_ascii_lowercase()
        });
        before = c;
    }

    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_as_sql_writes_them() {
        for (name, snake) in [
            ("User", "user"),
            ("BlogPost", "blog_post"),
            ("blog-post", "blog_post"),
            ("a2B", "a2_b"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
    }

    #[test]
    fn tables_are_found_by_their_views() {
        for (source, table) in [
            ("v_user", "tb_user"),
            ("tv_post", "tb_post"),
            ("tb_a", "tb_a"),
            ("x", "tb_blog_post"),
        ] {
            assert_eq!(table_of(source, "BlogPost"), table);
        }
    }
}
