//! Columns that rows are found by, with values that the database stores as the same.

/// A table whose rows are found by a column, or by that and `lang`.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The type of the column.
    pub(super) column: &'static str,
    /// The statements behind the table; `K` is its column.
    pub(super) more: &'static str,
    /// Values that are stored as the same. The part behind `|` is `lang`, which is left to its
    /// default without it. Where it is empty it is null, as no client can give it.
    pub(super) groups: &'static [&'static [&'static str]],
}

impl Kind {
    /// Whether rows are found by two columns.
    pub(super) fn has_two(&self) -> bool {
        self.more.contains("(key, lang)")
    }
}

const UNIQUE: &str = "CREATE UNIQUE INDEX ON tb_item (key);";

const fn plain(
    name: &'static str,
    column: &'static str,
    groups: &'static [&'static [&'static str]],
) -> Kind {
    Kind {
        name,
        column,
        more: UNIQUE,
        groups,
    }
}

const fn with(
    name: &'static str,
    more: &'static str,
    groups: &'static [&'static [&'static str]],
) -> Kind {
    Kind {
        name,
        column: "text",
        more,
        groups,
    }
}

/// Types, triggers, defaults and indexes under which given and stored values differ, and others
/// under which they do not. Whatever begins with `drop` is left out by the trigger of its kind.
pub(super) const KINDS: &[Kind] = &[
    plain("varchar", "varchar(8)", &[&["ABCD1234", "ABCD1234 ", "ABCD1234   "], &["x"], &["y", "y"], &["y "]]),
    plain("numeric", "numeric(5,2)", &[&["1", "1.001", "0.999", "1.0049"], &["2", "2.00"], &["3.5", "3.499"]]),
    plain("numeric_negative", "numeric(5,-1)", &[&["10", "11", "9"], &["20", "24"], &["30"]]),
    plain("numeric_plain", "numeric", &[&["1", "1.0", "1.000"], &["1.001"], &["NaN"]]),
    plain(
        "timestamptz",
        "timestamptz(0)",
        &[
            &["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.3Z", "2024-01-01T01:00:00+01"],
            &["2024-01-01T00:00:01Z", "2024-01-01T00:00:00.7Z"],
            &["infinity"],
        ],
    ),
    plain(
        "timestamp",
        "timestamp(1)",
        &[&["2024-01-01 00:00:00.1", "2024-01-01 00:00:00.12"], &["2024-01-02"], &["2024-01-03"]],
    ),
    plain("time", "time(0)", &[&["10:00:00", "10:00:00.3"], &["10:00:01", "10:00:00.9"], &["24:00", "23:59:59.9"]]),
    plain("timetz", "timetz(0)", &[&["10:00:00+00", "10:00:00.3+00"], &["10:00:00+01"], &["11:00+00"]]),
    plain("interval_days", "interval day", &[&["1 day", "1 day 3 hours"], &["2 days"], &["3 days", "3 days 1 minute"]]),
    plain("interval", "interval(0)", &[&["1 sec", "1.2 sec"], &["1 mon", "30 days"], &["1 year"]]),
    plain("domain_varchar", "short_text", &[&["ABCD", "ABCD "], &["x"], &["y"]]),
    plain("domain_numeric", "short_number", &[&["1.5", "1.52"], &["2"], &["3"]]),
    plain("citext", "citext", &[&["ada", "ADA", "Ada"], &["bob"], &["eve", "EVE"]]),
    plain("domain_citext", "email", &[&["ada@x.org", "ADA@x.org"], &["bob@x.org"], &["eve@x.org"]]),
    plain("char", "char(5)", &[&["ab", "ab ", "ab   "], &["cd"], &["ef"]]),
    plain("bpchar", "bpchar", &[&["ab", "ab "], &["cd"], &["ef"]]),
    plain("name", "name", &[&["ab"], &["cd"], &["ab "]]),
    plain("internal_char", "\"char\"", &[&["a"], &["b"], &["c"]]),
    plain("text", "text", &[&["ab"], &["ab "], &["AB"], &["b"]]),
    plain("insensitive", "text COLLATE insensitive", &[&["Réne", "rene", "RENE"], &["ada"], &["eve"]]),
    plain("int", "int", &[&["1", "01", "+1"], &["2"], &["3"]]),
    plain("bigint", "bigint", &[&["9007199254740993"], &["9007199254740992"], &["1"]]),
    plain("real", "real", &[&["1.1", "1.10000001"], &["2"], &["0", "-0"]]),
    plain("double", "float8", &[&["0.1", "1e-1"], &["2"], &["NaN"]]),
    plain("date", "date", &[&["2024-01-01", "20240101", "January 1, 2024"], &["2024-01-02"], &["infinity"]]),
    plain(
        "uuid",
        "uuid",
        &[
            &["00000000-0000-0000-0000-00000000000A", "{00000000-0000-0000-0000-00000000000a}"],
            &["00000000-0000-0000-0000-00000000000b"],
            &["00000000-0000-0000-0000-00000000000c"],
        ],
    ),
    plain("inet", "inet", &[&["10.0.0.1", "10.0.0.1/32"], &["10.0.0.1/24"], &["::1"]]),
    plain("cidr", "cidr", &[&["10.0.0.0/8", "10/8"], &["10.1.0.0/16"], &["::/0"]]),
    plain(
        "macaddr",
        "macaddr",
        &[&["08:00:2b:01:02:03", "08-00-2B-01-02-03"], &["08:00:2b:01:02:04"], &["08:00:2b:01:02:05"]],
    ),
    plain("bytea", "bytea", &[&["\\x41", "A", "\\101"], &["\\x42"], &["\\x"]]),
    plain("bool", "boolean", &[&["true", "t", "yes"], &["false", "off"]]),
    plain("enumeration", "mood", &[&["happy"], &["sad"], &["calm"]]),
    plain("range", "int4range", &[&["[1,3]", "[1,4)", "(0,3]"], &["empty", "[1,1)"], &["[5,)"]]),
    plain("money", "money", &[&["1", "$1.00", "1.001"], &["2"], &["3"]]),
    plain("bits", "varbit(4)", &[&["1010"], &["101"], &["0"]]),
    plain("words", "tsvector", &[&["a b", "b a"], &["c"], &["d"]]),
    with(
        "lowered",
        "CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.key := lower(trim(NEW.key)); RETURN NEW; END $$;
         CREATE TRIGGER lowered BEFORE INSERT ON tb_item FOR EACH ROW EXECUTE FUNCTION lowered();
         CREATE UNIQUE INDEX ON tb_item (key);",
        &[&["ada@x.org", "ADA@x.org", " ada@x.org"], &["bob@x.org", "BOB@x.org"], &["eve@x.org"]],
    ),
    with(
        "aliased",
        "CREATE FUNCTION aliased() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.key := regexp_replace(NEW.key, '^alias-', ''); RETURN NEW; END $$;
         CREATE TRIGGER aliased BEFORE INSERT OR UPDATE ON tb_item FOR EACH ROW EXECUTE FUNCTION aliased();
         CREATE UNIQUE INDEX ON tb_item (key);",
        &[&["a", "alias-a"], &["b", "alias-b"], &["c", "alias-c"]],
    ),
    // Each key is stored as another key.
    with(
        "shifted",
        "CREATE FUNCTION shifted() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.key := translate(NEW.key, 'abc', 'bcd'); RETURN NEW; END $$;
         CREATE TRIGGER shifted BEFORE INSERT ON tb_item FOR EACH ROW EXECUTE FUNCTION shifted();
         CREATE UNIQUE INDEX ON tb_item (key);",
        &[&["a"], &["b"], &["c"]],
    ),
    with(
        "dropping",
        "CREATE FUNCTION dropping() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RETURN CASE WHEN NEW.key LIKE 'drop%' THEN NULL ELSE NEW END; END $$;
         CREATE TRIGGER dropping BEFORE INSERT ON tb_item FOR EACH ROW EXECUTE FUNCTION dropping();
         CREATE UNIQUE INDEX ON tb_item (key);",
        &[&["a"], &["b"], &["c"], &["drop"]],
    ),
    with(
        "telling",
        "CREATE FUNCTION telling() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF TG_OP = 'INSERT' THEN NEW.key := lower(NEW.key); RETURN NEW; END IF;
           IF OLD.owner = 'alice' THEN RAISE EXCEPTION 'it holds %', OLD.body; END IF;
           RETURN NEW; END $$;
         CREATE TRIGGER telling BEFORE INSERT OR UPDATE ON tb_item FOR EACH ROW EXECUTE FUNCTION telling();
         CREATE UNIQUE INDEX ON tb_item (key);",
        &[&["a", "A"], &["b", "B"], &["c", "C"]],
    ),
    with(
        "nulls",
        "CREATE UNIQUE INDEX ON tb_item (key, lang) NULLS NOT DISTINCT;",
        &[&["a", "a|"], &["a|de"], &["b|", "b"], &["b|en"], &["c"]],
    ),
    with(
        "default",
        "ALTER TABLE tb_item ALTER lang SET DEFAULT 'de'; CREATE UNIQUE INDEX ON tb_item (key, lang);",
        &[&["a", "a|de"], &["a|en"], &["b|de", "b"], &["b|en"], &["c"]],
    ),
    with(
        "null_default",
        "ALTER TABLE tb_item ALTER lang SET DEFAULT NULLIF('x', 'x');
         CREATE UNIQUE INDEX ON tb_item (key, lang) NULLS NOT DISTINCT;",
        &[&["a", "a|"], &["a|de"], &["b|", "b"], &["c"]],
    ),
    Kind {
        name: "both",
        column: "varchar(4)",
        more: "CREATE FUNCTION pinned() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN NEW.lang := coalesce(NEW.lang, 'de'); RETURN NEW; END $$;
           CREATE TRIGGER pinned BEFORE INSERT ON tb_item FOR EACH ROW EXECUTE FUNCTION pinned();
           CREATE UNIQUE INDEX ON tb_item (key, lang);",
        groups: &[&["abcd", "abcd ", "abcd |de", "abcd|"], &["abcd|en"], &["x"], &["y|", "y"]],
    },
];

/// The objects that all kinds share.
pub(super) const SHARED: &str = "
    CREATE EXTENSION citext;
    CREATE COLLATION insensitive (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    CREATE DOMAIN short_text AS varchar(4);
    CREATE DOMAIN short_number AS numeric(5,1) CHECK (VALUE > 0);
    CREATE DOMAIN email AS citext CHECK (VALUE LIKE '%@%');
    CREATE TYPE mood AS ENUM ('happy', 'sad', 'calm');
    DO $$ BEGIN EXECUTE format('CREATE ROLE %I LOGIN', 'app_' || current_database()); END $$;";
