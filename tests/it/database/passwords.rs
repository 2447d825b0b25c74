//! No password of a database URL is shown, however the URL is written.

use svc::SvcConfig;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc::query]
async fn shown(ctx: &Context<'_>) -> Result<String> {
    Ok(format!("{:?} {:?}", ctx.db(), ctx.db().pool()))
}

#[tokio::test]
async fn an_invalid_database_url_is_explained_without_its_password() {
    // Keys without their first line.
    let with_key = |key: &str| {
        format!("postgres://me@localhost/db?sslmode=require&sslcert=/c.pem&sslkey={key}")
    };
    let (swapped, endless) = (with_key(&"hunter2".repeat(50)), with_key("MIIE%0Ahunter2"));
    for (url, why) in [
        ("postgres://me:hunter2/x@localhost/db", "write `/` as %2F"),
        ("postgres://me:hunter2?x@localhost/db", "`?` as %3F"),
        ("postgres://me:hunter2@x@localhost/db", "%40"),
        ("postgres://me:hunter2%x@localhost/db", "write `%` as %25"),
        (
            "postgres://me:hunter2 x@localhost/db",
            "write a space as %20",
        ),
        (
            "postgres://me@localhost/db?sslpassword=hunter2",
            "`sslpassword` is not supported",
        ),
        (
            "postgres://me@localhost/db?password=hunter2&sslmod=require",
            "`sslmod` is not known",
        ),
        ("hunter2", "it must be a URL such as"),
        (
            &swapped,
            "`sslkey` is neither the name of a file nor PEM text",
        ),
        (
            &endless,
            "`sslkey` is neither the name of a file nor PEM text",
        ),
    ] {
        let options = AppOptions::new().database_url(url).queries(queries![shown]);
        assert!(!format!("{options:?}").contains("hunter2"), "{options:?}");
        let error = create_svc_app(options).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(why) && !text.contains("hunter2"), "{text}");
        let read =
            SvcConfig::from_variables(|name| (name == "DATABASE_URL").then(|| url.to_owned()));
        let error = read.unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn debug_output_of_the_database_shows_no_password() {
    let url = format!("{}&password=hunter2", TestDatabase::empty().await);
    let options = AppOptions::new().database_url(url).queries(queries![shown]);
    assert!(!format!("{options:?}").contains("hunter2"), "{options:?}");
    let app = App::serve(options).await;
    let shown = app.query("{ shown }").await.data()["shown"].to_string();
    assert!(
        shown.contains("Db") && !shown.contains("hunter2"),
        "{shown}"
    );
}
