//! Lists, with commas and as JSON, and what is shown of those that are wrong.

use svc::SvcConfig;

fn read(name: &str, value: &str) -> Result<String, String> {
    let config = SvcConfig::from_variables(|known| (known == name).then(|| value.to_owned()));
    config
        .map(|config| format!("{config:?}"))
        .map_err(|error| error.to_string())
}

#[test]
fn each_list_takes_commas_and_json() {
    for (name, commas, json) in [
        (
            "SVC_RATE_LIMIT_WHITELIST",
            "10.0.0.0/8, user:42",
            r#"["10.0.0.0/8", "user:42"]"#,
        ),
        (
            "SVC_RATE_LIMIT_BLACKLIST",
            "key:acme,2001:db8::7",
            r#"[ "key:acme" , "2001:db8::7" ]"#,
        ),
        (
            "SVC_TRUSTED_PROXIES",
            "10.0.0.0/8, 192.0.2.7",
            r#" ["10.0.0.0/8","192.0.2.7"]"#,
        ),
        ("SVC_IDP_ALGORITHMS", "RS256, ES256", r#"["RS256","ES256"]"#),
        (
            "SVC_CORS_ORIGINS",
            "https://a.example.com,https://B.example.com/",
            r#"["https://a.example.com","https://b.example.com"]"#,
        ),
        ("SVC_CORS_HEADERS", "x-one, x-two", r#"["x-one","x-two"]"#),
        (
            "SVC_SUBSCRIPTION_ORIGINS",
            "https://a.example.com",
            r#"["https://a.example.com"]"#,
        ),
        ("SVC_METRICS_EXCLUDE_PATHS", "/a,/b", r#"["/a","/b"]"#),
    ] {
        assert_eq!(read(name, commas), read(name, json), "{name}");
        assert_ne!(read(name, commas), read("SVC_NOTHING", ""), "{name}");
        for wrong in [r#"["10.0.0.1""#, "[1]", r#"{"a": 1}"#] {
            if name != "SVC_METRICS_EXCLUDE_PATHS" || wrong.starts_with('[') {
                let error = read(name, wrong).expect_err(name);
                assert!(
                    error.starts_with(&format!("{name} is ")) && error.contains("JSON list"),
                    "{error}"
                );
            }
        }
    }
}

/// A list of origins may be given with the credentials of another tool.
#[test]
fn errors_show_no_credentials() {
    for (name, value) in [
        ("SVC_CORS_ORIGINS", "https://u:secret@x.y"),
        (
            "SVC_CORS_ORIGINS",
            "https://a.example.com, https://u:sec/r,et@x.y",
        ),
        ("SVC_CORS_ORIGINS", r#"["https://u:secret@x.y"]"#),
        ("SVC_SUBSCRIPTION_ORIGINS", "https://u:secret@x.y"),
        ("SVC_TRUSTED_PROXIES", "http://u:secret@10.0.0.1"),
        ("SVC_HOST", "u:secret@localhost"),
        ("SVC_METRICS_ADDR", "u:secret@localhost:1"),
    ] {
        let error = read(name, value).expect_err(name);
        assert!(
            error.starts_with(name) && !error.contains("sec") && error.contains("***@"),
            "{error}"
        );
    }
}
