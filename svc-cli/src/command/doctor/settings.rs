//! Checks the settings of `.env` and the environment for production.
//!
//! The program may set others itself, which are not visible here.

use std::process::{Command, Stdio};

use super::finding::Finding;
use crate::project::Project;

/// The minimum length of a secret for HS256.
const MIN_SECRET_LENGTH: usize = 32;

/// The limits, each with a value above which it does not protect.
const LIMITS: [(&str, u64); 7] = [
    ("SVC_LIMIT_BODY", 50_000_000),
    ("SVC_LIMIT_TOKENS", 1_000_000),
    ("SVC_LIMIT_DEPTH", 100),
    ("SVC_LIMIT_ALIASES", 10_000),
    ("SVC_LIMIT_ROOT_FIELDS", 5_000),
    ("SVC_LIMIT_COMPLEXITY", 1_000_000),
    ("SVC_LIMIT_MAX_PAGE", 100_000),
];

/// Checks the settings.
pub(super) fn look(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(tracked(project));
    findings.push(environment(project));
    findings.extend(introspection(project));
    findings.extend(documents(project));
    findings.extend(secrets(project));
    findings.push(authentication(project));
    findings.extend(limits(project));
    findings
}

/// Whether git tracks the file with the secrets.
fn tracked(project: &Project) -> Option<Finding> {
    if !project.root().join(".env").is_file() {
        return None;
    }

    // `--error-unmatch` makes git fail for a file that it does not track.
    let arguments = ["ls-files", "--error-unmatch", ".env"];
    let git = Command::new("git")
        .args(arguments)
        .current_dir(project.root())
        .stdin(Stdio::null())
        .output()
        .ok()?;

    Some(if git.status.success() {
        let fix = "git rm --cached .env, add it to .gitignore, and change its secrets";
        Finding::problem("secrets", ".env is in the git repository", fix)
    } else {
        Finding::ok("secrets", ".env is not in the git repository")
    })
}

fn environment(project: &Project) -> Finding {
    match project.setting("SVC_ENVIRONMENT").as_deref() {
        Some("production") => Finding::ok("environment", "production"),
        None | Some("development") => Finding::warning(
            "environment",
            "development: clients may read the schema, and errors contain details",
            "set SVC_ENVIRONMENT=production where the service is deployed",
        ),
        Some(other) => Finding::problem(
            "environment",
            format!("SVC_ENVIRONMENT is `{other}`"),
            "use development or production",
        ),
    }
}

fn introspection(project: &Project) -> Option<Finding> {
    let is_on = project
        .setting("SVC_INTROSPECTION")?
        .eq_ignore_ascii_case("true");
    is_on.then(|| {
        let fix = "remove SVC_INTROSPECTION: clients may then read the schema in development only";
        Finding::warning(
            "introspection",
            "clients may read the schema in production too",
            fix,
        )
    })
}

/// Whether a service in production that registers operations accepts other documents too.
fn documents(project: &Project) -> Option<Finding> {
    let is_production = project.setting("SVC_ENVIRONMENT").as_deref() == Some("production");
    let registers = ["SVC_OPERATIONS_DIR", "SVC_TRUSTED_DOCUMENTS"]
        .iter()
        .any(|name| project.setting(name).is_some());
    if !is_production || !registers {
        return None;
    }

    let is = |name: &str, words: &[&str]| {
        let value = project.setting(name).unwrap_or_default();
        words.contains(&value.trim().to_ascii_lowercase().as_str())
    };

    let warning = |message: &str, fix: &str| Some(Finding::warning("documents", message, fix));
    if !is("SVC_REGISTERED_ONLY", &["true", "1", "yes", "on"]) {
        return warning(
            "operations are registered, but clients may send any other document too",
            "unless clients of others use the service, set SVC_REGISTERED_ONLY=true; try it first with \
             SVC_REGISTERED_ONLY_MODE=warn",
        );
    }

    if is("SVC_REGISTERED_ONLY_MODE", &["warn"]) {
        return warning(
            "documents that are not registered are logged, and run",
            "when the security log has no query.registered_only_tried anymore, set SVC_REGISTERED_ONLY_MODE=enforce",
        );
    }

    let message = "only registered operations are accepted";
    Some(Finding::ok("documents", message))
}

fn secrets(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(secret) = project.setting("SVC_AUTH_SECRET_KEY") {
        let distinct = secret
            .chars()
            .collect::<std::collections::HashSet<_>>()
            .len();
        let looks_made_up = ["secret", "change", "example", "password"]
            .iter()
            .any(|word| secret.to_lowercase().contains(word));
        let fix = "generate one: openssl rand -hex 32";

        // A random text of this length almost always has more different characters, even in
        // hexadecimal.
        findings.push(if secret.len() < MIN_SECRET_LENGTH {
            Finding::problem(
                "secrets",
                format!("SVC_AUTH_SECRET_KEY has fewer than {MIN_SECRET_LENGTH} bytes"),
                fix,
            )
        } else if distinct < 10 || looks_made_up {
            Finding::problem("secrets", "SVC_AUTH_SECRET_KEY is easy to guess", fix)
        } else {
            Finding::ok("secrets", "SVC_AUTH_SECRET_KEY is long enough")
        });
    }

    if project.setting("SVC_DEV_AUTH_PASSWORD").is_some() {
        let fix = "remove SVC_DEV_AUTH_PASSWORD, and set a provider: SVC_AUTH_PROVIDER";
        findings.push(Finding::warning(
            "secrets",
            "/graphql is protected by a single shared password",
            fix,
        ));
    }

    findings
}

fn authentication(project: &Project) -> Finding {
    match project.setting("SVC_AUTH_PROVIDER").as_deref() {
        None | Some("none") => Finding::warning(
            "authentication",
            "no provider is set, so requests have no user unless the program sets a provider",
            "set SVC_AUTH_PROVIDER, unless everyone may read everything",
        ),
        Some(provider) => Finding::ok("authentication", format!("the provider is `{provider}`")),
    }
}

fn limits(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, most) in LIMITS {
        let Some(value) = project
            .setting(name)
            .and_then(|value| value.trim().parse::<u64>().ok())
        else {
            continue;
        };

        if value > most {
            let fix = format!("remove {name} for its default, or choose one below {most}");
            findings.push(Finding::warning(
                "limits",
                format!("{name}={value} is effectively no limit"),
                fix,
            ));
        }
    }

    if project
        .setting("SVC_REQUEST_TIMEOUT")
        .as_deref()
        .map(str::trim)
        == Some("0")
    {
        let fix = "remove SVC_REQUEST_TIMEOUT for its default, 60 seconds";
        findings.push(Finding::warning("limits", "a request may run forever", fix));
    }

    if findings.is_empty() {
        findings.push(Finding::ok("limits", "none is disabled"));
    }

    findings
}
