//! Claims by their names and places, and what is shown of them.

use std::time::SystemTime;

use serde_json::{Value, json};
use svc::SvcConfig;
use svc::auth::{Claims, RevocableToken, UserContext};

fn claims(value: &Value) -> Claims {
    Claims::new(value.as_object().unwrap().clone())
}

/// RFC 6901: `~1` is decoded before `~0`.
#[test]
fn a_json_pointer_selects_one_claim() {
    let claims = claims(&json!({
        "a": { "b": ["x", { "c": 1 }], "": 2, "d/e": 3 },
        "f/g": 4, "h~i": { "j": 5 }, "~1": 6, "": { "": 7 },
    }));
    for (pointer, expected) in [
        ("/a/b/0", json!("x")),
        ("/a/b/1/c", json!(1)),
        ("/a/", json!(2)),
        ("/a/d~1e", json!(3)),
        ("/f~1g", json!(4)),
        ("/h~0i/j", json!(5)),
        ("/~01", json!(6)),
        ("//", json!(7)),
        ("/", json!({ "": 7 })),
    ] {
        assert_eq!(claims.pointer(pointer), Some(&expected), "{pointer}");
    }
    for nowhere in [
        "", "a", "a/b", "/b", "/a/b/2", "/a/b/x", "/a/b/0/c", "/f/g", "/h~i/k",
    ] {
        assert_eq!(claims.pointer(nowhere), None, "{nowhere}");
    }
    let user = UserContext::new("1").metadata("a", json!({ "b/c": true, "d": [] }));
    assert_eq!(
        ["/a/b~1c", "/a/d", "a/b"].map(|name| user.claim(name)),
        [Some("true".to_owned()), None, None]
    );
}

#[test]
fn standard_claims_have_typed_accessors() {
    let all = claims(&json!({ "iss": "us", "sub": "ada", "jti": "7", "exp": 60.5, "iat": 30 }));
    assert_eq!(
        [all.issuer(), all.subject(), all.token_id()],
        [Some("us"), Some("ada"), Some("7")]
    );
    assert_eq!(
        (all.expires_at(), all.issued_at(), all.as_map().len()),
        (Some(60.5), Some(30.0), 5)
    );
    let wrong = claims(&json!({ "iss": 1, "sub": null, "jti": "", "exp": "60", "iat": true }));
    assert_eq!(
        [wrong.issuer(), wrong.subject(), wrong.token_id()],
        [None; 3]
    );
    assert_eq!([wrong.expires_at(), wrong.issued_at()], [None; 2]);
    assert_eq!(
        format!("{all:?}"),
        r#"{"iss", "sub", "jti", "exp", "iat"}"#,
        "their values are nobody's business"
    );
}

/// The identifiers are hashes, and reveal nothing of the token.
#[test]
fn revocation_ids_of_different_tokens_differ() {
    let user = UserContext::new("ada");
    let token = |value: Value| RevocableToken::new(&claims(&value), &user);
    let ids = |value: Value| token(value).ids().map(str::to_owned).collect::<Vec<_>>();
    let all = [
        ids(json!({ "jti": "1" })),
        ids(json!({ "jti": "2" })),
        ids(json!({ "sid": "1" })),
        ids(json!({ "iss": "a", "jti": "1" })),
        ids(json!({ "iss": "a", "sid": "1" })),
        // Neither part runs into the other.
        ids(json!({ "iss": "a1", "jti": "2" })),
        ids(json!({ "iss": "a", "jti": "12" })),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(
            one.len() == 1
                && one[0].len() == 64
                && one[0].bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{one:?}"
        );
        assert!(!all[..index].contains(one), "{index}");
    }
    assert_eq!(
        ids(json!({ "jti": "1", "sid": "1" })),
        [all[0][0].clone(), all[2][0].clone()]
    );
    assert_eq!(
        (
            ids(json!({})).len(),
            token(json!({})).id(),
            token(json!({})).session_id()
        ),
        (0, None, None)
    );
    assert_eq!(
        [
            token(json!({ "sub": "x" })).subject(),
            token(json!({})).subject(),
            RevocableToken::new(&claims(&json!({ "sub": "x" })), &UserContext::new("")).subject()
        ],
        [Some("ada"), Some("ada"), None],
        "the identifier of the user counts, from whichever claim"
    );
    let issued = token(json!({ "iat": 100, "exp": 200 }));
    let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    assert_eq!(
        (issued.issued_at(), issued.expires_at()),
        (Some(at(100)), Some(at(200)))
    );
    assert_eq!(
        [99, 100, 101].map(|cut_off| issued.is_before(at(cut_off))),
        [false, false, true]
    );
    assert!(
        token(json!({})).is_before(at(0)),
        "one that does not say when it was issued"
    );
}

#[test]
fn settings_show_algorithms_by_name() {
    let read = |value: &str| {
        let value = value.to_owned();
        SvcConfig::from_variables(move |name| (name == "SVC_IDP_ALGORITHMS").then(|| value.clone()))
    };
    let config = read(r#"["RS256", "EdDSA"]"#).unwrap();
    assert!(
        format!("{:?}", config.idp).contains("algorithms: [Rs256, EdDsa]"),
        "{:?}",
        config.idp
    );
    let error = read("RS257").unwrap_err().to_string();
    assert_eq!(
        error,
        "SVC_IDP_ALGORITHMS is \"RS257\"; it must be a list of HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, \
         PS512, ES256, ES384 or EdDSA, such as RS256 or [\"RS256\"], separated by commas or as a JSON list"
    );
}
