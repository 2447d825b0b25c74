//! The functions of PostgreSQL, and for some of them when they return null.

use std::collections::HashMap;

use tokio_postgres::Client;

/// Functions that return a value for every value, by their C function: SQL names are shared, such
/// as `lower`, which is null for a range without a lower bound. Functions of times that may be
/// infinite, such as `to_char`, are omitted.
const TOTAL: &str = "\
    lower upper initcap textlen bpcharlen textoctetlen byteaoctetlen textcat text_substr text_substr_no_len \
    text_left text_right text_reverse btrim btrim1 ltrim ltrim1 rtrim rtrim1 replace_text lpad rpad textpos \
    split_part translate repeat md5_text quote_literal quote_ident ascii chr text_starts_with textlike \
    textnlike texticlike texticnlike textregexeq textregexne texticregexeq texticregexne textregexreplace_noopt \
    textregexreplace textoverlay textoverlay_no_len binary_encode binary_decode array_to_text \
    numeric_to_char int4_to_char int8_to_char int48 int84 i4toi2 i2toi4 int82 int28 int4_numeric int8_numeric \
    int2_numeric numeric_int4 numeric_int8 numeric_int2 float4_numeric float8_numeric numeric_float8 \
    numeric_float4 ftod dtof i4tod i8tod i2tod dtoi4 dtoi8 dtoi2 i4tof i8tof i2tof ftoi4 ftoi8 ftoi2 numeric \
    varchar bpchar booltext bool_int4 int4_bool timestamptz_date timestamp_date date_timestamp date_timestamptz \
    timestamptz_timestamp timestamp_timestamptz timestamp_scale timestamptz_scale timestamptz_zone timestamp_zone \
    name_text text_name char_text int2pl int4pl int8pl int24pl int42pl int28pl int82pl int48pl int84pl int2mi \
    int4mi int8mi int24mi int42mi int28mi int82mi int48mi int84mi int2mul int4mul int8mul int24mul int42mul \
    int28mul int82mul int48mul int84mul int2div int4div int8div int24div int42div int28div int82div int48div \
    int84div int2mod int4mod int8mod int2um int4um int8um int2abs int4abs int8abs float4pl float8pl float48pl \
    float84pl float4mi float8mi float48mi float84mi float4mul float8mul float48mul float84mul float4div float8div \
    float48div float84div float4um float8um float4abs float8abs numeric_add numeric_sub numeric_mul numeric_div \
    numeric_mod numeric_uminus numeric_abs numeric_round numeric_ceil numeric_floor numeric_trunc numeric_sign \
    dround dceil dfloor dtrunc dsqrt dpow numeric_power numeric_sqrt now clock_timestamp statement_timestamp \
    timestamptz_trunc timestamp_trunc timestamptz_trunc_zone date_pli date_mii date_mi date_pl_interval \
    date_mi_interval timestamptz_pl_interval timestamptz_mi_interval timestamp_pl_interval timestamp_mi_interval \
    timestamp_mi interval_pl interval_mi interval_mul interval_um to_jsonb to_json row_to_json jsonb_concat \
    jsonb_set jsonb_strip_nulls jsonb_typeof json_typeof jsonb_array_length json_array_length jsonb_pretty \
    jsonb_delete jsonb_delete_array jsonb_contains jsonb_contained jsonb_exists jsonb_exists_any jsonb_exists_all \
    array_to_json array_cardinality arraycontains arraycontained arrayoverlap gen_random_uuid current_database \
    show_config_by_name pg_backend_pid";

/// Comparison operators of an order return a value for all values.
const FUNCTIONS: &str = "\
    WITH ordered AS ( \
        SELECT o.oid, o.oprnegate FROM pg_operator o \
        WHERE EXISTS (SELECT FROM pg_amop a JOIN pg_am m ON m.oid = a.amopmethod \
            WHERE a.amopopr = o.oid AND m.amname = 'btree') \
    ) \
    SELECT p.oid, p.proname::text, p.proisstrict, n.nspname = 'pg_catalog', \
        n.nspname = 'pg_catalog' AND (l.lanname = 'internal' AND p.prosrc = ANY ($1) \
            OR p.proname IN ('textanycat', 'anytextcat', 'round') AND l.lanname = 'sql') \
        OR EXISTS (SELECT FROM pg_operator o JOIN ordered d ON o.oid IN (d.oid, d.oprnegate) WHERE o.oprcode = p.oid) \
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang";

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Whether a null argument makes it null.
    pub(super) is_strict: bool,
    /// Whether it is built into PostgreSQL.
    pub(super) is_built_in: bool,
    /// Whether it returns a value for all arguments without a null.
    pub(super) is_total: bool,
}

impl Function {
    /// The name of a built-in function, or an empty text for a user's function, which may have the
    /// same name.
    pub(super) fn built_in(&self) -> &str {
        if self.is_built_in { &self.name } else { "" }
    }
}

/// All functions, by number.
pub(super) async fn read(client: &Client) -> Result<HashMap<u32, Function>, tokio_postgres::Error> {
    let total: Vec<&str> = TOTAL.split_whitespace().collect();
    let rows = client.query(FUNCTIONS, &[&total]).await?;
    let function = |row: &tokio_postgres::Row| {
        let (name, is_strict, is_built_in, is_total) =
            (row.get(1), row.get(2), row.get(3), row.get(4));
        (
            row.get(0),
            Function {
                name,
                is_strict,
                is_built_in,
                is_total,
            },
        )
    };

    Ok(rows.iter().map(function).collect())
}
