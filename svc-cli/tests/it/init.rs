//! `svc init`.

use std::process::Command;

use crate::support::{Place, command, said};

#[test]
fn makes_a_project() {
    let place = Place::new();
    let said = place.svc(&["init", "my-shop.v2"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (Some(0), ""),
        "{}",
        said.err
    );
    assert!(
        said.err.ends_with("Next:\n  cd my-shop.v2\n  svc dev\n"),
        "{}",
        said.err
    );
    let manifest = place.read("my-shop.v2/Cargo.toml");
    assert!(manifest.contains("name = \"my-shop-v2\""), "{manifest}");
    let checkout =
        std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../svc")).expect("the crate");
    let dependency = format!("svc = {{ path = {checkout:?}, features = [\"auth\"] }}");
    assert!(manifest.contains(&dependency), "{manifest}");
    let note = format!("the project depends on svc in {}", checkout.display());
    assert!(
        said.err.contains(&note) && said.err.contains("svc init --svc-git URL"),
        "{}",
        said.err
    );
    let settings = place.read("my-shop.v2/.env");
    let port = port_of(&settings, "/my_shop_v2");
    assert!(
        settings.contains("\nSVC_DATABASE_POOL_TIMEOUT=5\n")
            && settings.contains("\n# SVC_DEV_AUTH_PASSWORD=")
    );
    assert_eq!(place.read("my-shop.v2/.env.example"), settings);
    let compose = place.read("my-shop.v2/docker-compose.yml");
    assert!(
        compose.contains("POSTGRES_DB: my_shop_v2\n")
            && compose.contains(&format!("\"127.0.0.1:{port}:5432\""))
    );
    assert!(
        place
            .read("my-shop.v2/README.md")
            .starts_with("# my-shop.v2\n")
    );
    for path in [
        "src/main.rs",
        "src/types",
        "src/queries",
        "src/mutations",
        "db/migrations/001_tables.sql",
        "db/schema/001_users.sql",
        "db/seeds/001_users.sql",
        "db/environments",
        "tests",
        ".gitignore",
        ".dockerignore",
        "Dockerfile",
        ".github/workflows/ci.yml",
        ".git",
    ] {
        assert!(place.path("my-shop.v2").join(path).exists(), "{path}");
    }
}

/// The port of the database URL that ends so.
fn port_of(settings: &str, end: &str) -> u16 {
    let url = settings
        .lines()
        .find_map(|line| line.strip_prefix("SVC_DATABASE_URL=postgresql://svc:svc@localhost:"));
    url.and_then(|rest| rest.strip_suffix(end))
        .and_then(|port| port.parse().ok())
        .expect("a port")
}

#[test]
fn each_project_has_a_port_of_its_own() {
    let place = Place::new();
    let ports: Vec<u16> = ["one", "two", "three"]
        .iter()
        .map(|name| {
            place.svc(&["init", name, "--no-git"]).good();
            port_of(&place.read(&format!("{name}/.env")), &format!("/{name}"))
        })
        .collect();
    // No connection that goes out takes them.
    assert!(
        ports.iter().all(|port| (20_000..32_768).contains(port)),
        "{ports:?}"
    );
    assert!(
        ports[0] != ports[1] && ports[1] != ports[2] && ports[0] != ports[2],
        "{ports:?}"
    );
}

#[test]
fn the_schema_is_the_same_without_the_settings() {
    let place = Place::new();
    place.svc(&["init", "shop", "--no-git"]).good();
    assert!(!place.read("shop/.env").contains("CAMEL_CASE"));
    assert!(
        place
            .read("shop/src/lib.rs")
            .contains("auto_camel_case(true)")
    );
    std::fs::remove_file(place.path("shop/.env")).expect("the settings");
    let words = place.svc_in("shop", &["db", "status"]).bad();
    assert!(
        words.contains("hint: copy the settings for development: cp .env.example .env"),
        "{words}"
    );
}

#[test]
fn the_source_of_svc_can_be_named() {
    let place = Place::new();
    let manifest = |arguments: &[&str]| {
        let _ = std::fs::remove_dir_all(place.path("shop"));
        place
            .svc(&[&["init", "shop", "--no-git"], arguments].concat())
            .good();
        (place.read("shop/Cargo.toml"), place.read("shop/Dockerfile"))
    };
    let url = "https://example.org/svc.git";
    for (arguments, keys, install) in [
        (
            &["--svc-git", url][..],
            "git = \"https://example.org/svc.git\"",
            "--git https://example.org/svc.git svc-cli",
        ),
        (
            &["--svc-git", url, "--svc-rev", "0ab1"],
            "svc.git\", rev = \"0ab1\"",
            "svc.git --rev 0ab1 svc-cli",
        ),
        (
            &["--svc-git", url, "--svc-branch", "main"],
            "svc.git\", branch = \"main\"",
            "svc.git --branch main svc-cli",
        ),
    ] {
        let (manifest, image) = manifest(arguments);
        assert_eq!(manifest.matches(keys).count(), 2, "{manifest}");
        assert!(image.contains(install), "{image}");
    }
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let (by_checkout, image) = manifest(&["--svc-path", checkout]);
    assert_eq!(
        by_checkout,
        manifest(&["--svc-path", &format!("{checkout}/svc")]).0
    );
    assert!(
        image.contains("--build-context svc=") && image.contains("COPY --from=svc . "),
        "{image}"
    );
    let here = place.path(".").to_string_lossy().into_owned();
    let words = place.svc(&["init", "other", "--svc-path", &here]).misused();
    assert!(
        words.contains("has no crate `svc`") && words.contains("hint: --svc-path takes a checkout"),
        "{words}"
    );
    for wrong in [
        &["--svc-rev", "1"][..],
        &["--svc-git", url, "--svc-path", "."],
    ] {
        assert_eq!(
            place.svc(&[&["init", "other"], wrong].concat()).code,
            Some(2)
        );
    }
}

#[test]
fn each_template_is_a_program_of_its_own() {
    let place = Place::new();
    for (template, file) in [
        ("basic", "db/schema/001_users.sql"),
        ("blog", "src/types/comment.rs"),
        ("ecommerce", "src/mutations/ordering.rs"),
    ] {
        place
            .svc(&["init", template, "--template", template, "--no-git"])
            .good();
        assert!(place.path(template).join(file).is_file(), "{template}");
        assert!(!place.path(template).join(".git").exists(), "{template}");
    }
}

#[test]
fn invalid_names_are_refused() {
    let place = Place::new();
    for name in [
        "1shop", "my shop", "shöp", "fn", "svc", "test", "..", "a/b$",
    ] {
        let words = place.svc(&["init", name]).misused();
        assert!(
            words.contains("hint: a name starts with a letter"),
            "{words}"
        );
    }
    assert_eq!(
        std::fs::read_dir(place.path("."))
            .expect("the folder")
            .count(),
        0
    );
}

#[test]
fn existing_files_are_kept() {
    let place = Place::new();
    place.write("shop/note.txt", "mine");
    place.write("file", "mine");
    assert!(
        place
            .svc(&["init", "shop"])
            .bad()
            .contains("the folder shop exists and is not empty")
    );
    assert!(
        place
            .svc(&["init", "file"])
            .bad()
            .contains("file exists and is not a folder")
    );
    assert_eq!(place.read("shop/note.txt"), "mine");
    std::fs::create_dir(place.path("empty")).expect("a folder");
    place.svc(&["init", "empty", "--no-git"]).good();
}

#[test]
fn a_given_database_url_is_written_unchanged() {
    let place = Place::new();
    let url = "postgresql://me:p%23%40ss@db.example.org/shop?sslmode=verify-full";
    place
        .svc(&["init", "shop", "--no-git", "--database-url", url])
        .good();
    assert!(
        place
            .read("shop/.env")
            .contains(&format!("SVC_DATABASE_URL={url}\n"))
    );
    assert!(
        !place.read("shop/.env.example").contains("p%23"),
        "the example is committed"
    );
    let words = place
        .svc(&[
            "init",
            "other",
            "--database-url",
            "mysql://me@localhost/shop",
        ])
        .misused();
    assert!(
        words.contains("postgresql://user:password@host:5432/name"),
        "{words}"
    );
    assert!(!place.path("other").exists());
}

#[test]
fn a_project_below_another_manifest_stands_alone() {
    let place = Place::new();
    place.write("Cargo.toml", "[workspace]\n");
    place.svc(&["init", "apps/shop", "--no-git"]).good();
    assert!(
        place
            .read("apps/shop/Cargo.toml")
            .ends_with("[workspace]\n")
    );
}

#[test]
fn without_git_the_project_is_complete() {
    let place = Place::new();
    let said = said(
        command(&place.path("."))
            .args(["init", "shop"])
            .env("PATH", "")
            .output()
            .expect("the binary"),
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.contains("warning: git is not installed"),
        "{}",
        said.err
    );
}

#[test]
fn a_project_within_a_repository_gets_no_repository() {
    let place = Place::new();
    let status = Command::new("git")
        .arg("-C")
        .arg(place.path("."))
        .args(["init", "-q"])
        .status()
        .expect("git");
    assert!(status.success());
    place.svc(&["init", "shop"]).good();
    assert!(!place.path("shop/.git").exists());
}
