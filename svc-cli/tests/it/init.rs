//! `svc init`.

use std::process::Command;

use crate::support::{Place, command, said};

#[test]
fn makes_a_project() {
    let place = Place::new();
    let said = place.svc(&["init", "my-shop.v2"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{}", said.err);
    assert!(said.err.ends_with("Next:\n  cd my-shop.v2\n  svc dev\n"), "{}", said.err);
    let manifest = place.read("my-shop.v2/Cargo.toml");
    assert!(manifest.contains("name = \"my-shop-v2\""), "{manifest}");
    assert!(manifest.contains(concat!("svc = { version = \"=", env!("CARGO_PKG_VERSION"), "\" }")), "{manifest}");
    let settings = place.read("my-shop.v2/.env");
    assert!(settings.contains("SVC_DATABASE_URL=postgresql://svc:svc@localhost:54320/my_shop_v2\n"), "{settings}");
    assert!(settings.contains("SVC_AUTO_CAMEL_CASE=true\nSVC_DATABASE_POOL_TIMEOUT=5\n# SVC_DEV_AUTH_PASSWORD="));
    assert!(place.read("my-shop.v2/docker-compose.yml").contains("POSTGRES_DB: my_shop_v2\n"));
    assert!(place.read("my-shop.v2/README.md").starts_with("# my-shop.v2\n"));
    for path in [
        "src/main.rs",
        "src/types",
        "src/queries",
        "src/mutations",
        "db/schema/001_users.sql",
        "db/seeds",
        "db/migrations",
        "db/environments",
        "tests",
        ".gitignore",
        ".git",
    ] {
        assert!(place.path("my-shop.v2").join(path).exists(), "{path}");
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
        place.svc(&["init", template, "--template", template, "--no-git"]).good();
        assert!(place.path(template).join(file).is_file(), "{template}");
        assert!(!place.path(template).join(".git").exists(), "{template}");
    }
}

#[test]
fn names_that_cannot_be_are_refused() {
    let place = Place::new();
    for name in ["1shop", "my shop", "shöp", "fn", "svc", "test", "..", "a/b$"] {
        let words = place.svc(&["init", name]).bad();
        assert!(words.contains("hint: a name begins with a letter"), "{words}");
    }
    assert_eq!(std::fs::read_dir(place.path(".")).expect("the folder").count(), 0);
}

#[test]
fn what_exists_is_left_alone() {
    let place = Place::new();
    place.write("shop/note.txt", "mine");
    place.write("file", "mine");
    assert!(place.svc(&["init", "shop"]).bad().contains("the folder shop exists and is not empty"));
    assert!(place.svc(&["init", "file"]).bad().contains("file exists and is not a folder"));
    assert_eq!(place.read("shop/note.txt"), "mine");
    std::fs::create_dir(place.path("empty")).expect("a folder");
    place.svc(&["init", "empty", "--no-git"]).good();
}

#[test]
fn a_database_of_ones_own_is_kept_as_it_is() {
    let place = Place::new();
    let url = "postgresql://me:p%23%40ss@db.example.org/shop?sslmode=verify-full";
    place.svc(&["init", "shop", "--no-git", "--database-url", url]).good();
    assert!(place.read("shop/.env").contains(&format!("SVC_DATABASE_URL={url}\n")));
    let words = place.svc(&["init", "other", "--database-url", "mysql://me@localhost/shop"]).bad();
    assert!(words.contains("postgresql://user:password@host:5432/name"), "{words}");
    assert!(!place.path("other").exists());
}

#[test]
fn a_project_below_another_manifest_stands_alone() {
    let place = Place::new();
    place.write("Cargo.toml", "[workspace]\n");
    place.svc(&["init", "apps/shop", "--no-git"]).good();
    assert!(place.read("apps/shop/Cargo.toml").ends_with("[workspace]\n"));
}

#[test]
fn without_git_the_project_is_complete() {
    let place = Place::new();
    let said = said(command(&place.path(".")).args(["init", "shop"]).env("PATH", "").output().expect("the binary"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("warning: git is not installed"), "{}", said.err);
}

#[test]
fn a_project_within_a_repository_gets_none() {
    let place = Place::new();
    let status = Command::new("git").arg("-C").arg(place.path(".")).args(["init", "-q"]).status().expect("git");
    assert!(status.success());
    place.svc(&["init", "shop"]).good();
    assert!(!place.path("shop/.git").exists());
}
