//! `svc init`: a new project.

mod address;
mod dependency;
mod git;
mod name;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::terminal;
use address::Address;
use dependency::Dependency;
use name::Name;
use template::{Template, Values};

const EXAMPLES: &str = "\
Examples:
  svc init shop
  svc init shop --template ecommerce --no-git
  svc init shop --svc-path ~/src/svc
  svc init shop --svc-git https://example.org/svc.git --svc-branch main
  svc init shop --database-url postgresql://me:secret@localhost/shop";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to create; its last part becomes the project's name.
    project_name: PathBuf,
    /// The program to start from.
    #[arg(long, value_enum, default_value_t = Template::Basic)]
    template: Template,
    /// The database URL for `.env`; by default, the project's own database on a free port.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Do not create a git repository.
    #[arg(long)]
    no_git: bool,
    /// Depend on the crate `svc` in this folder: a checkout of the repository, or the folder `svc`
    /// in it. By default, a tool that was built from a checkout uses this checkout.
    #[arg(long, value_name = "FOLDER", conflicts_with = "svc_git")]
    svc_path: Option<PathBuf>,
    /// Depend on the crate `svc` in this git repository.
    #[arg(long, value_name = "URL")]
    svc_git: Option<String>,
    /// The revision in the git repository.
    #[arg(long, value_name = "REVISION", requires = "svc_git")]
    svc_rev: Option<String>,
    /// The branch of the git repository.
    #[arg(
        long,
        value_name = "BRANCH",
        requires = "svc_git",
        conflicts_with = "svc_rev"
    )]
    svc_branch: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.project_name;
    let name = Name::of(folder)?;
    if let Some(url) = &arguments.database_url {
        crate::database::check_url(url).map_err(Failure::into_usage)?;
    }

    let svc = Dependency::choose(arguments)?;
    refuse_existing(folder)?;
    let note = svc.note();
    let values = Values {
        database: Address::choose(&name, arguments.database_url.clone()),
        svc,
        nested: is_nested(folder),
        name,
    };

    write(folder, &template::files(arguments.template, &values)?)?;
    terminal::done(format_args!(
        "created {} from the template `{}`",
        folder.display(),
        arguments.template.name()
    ));

    note.into_iter().for_each(terminal::say);
    if !arguments.no_git {
        git::init(folder);
    }

    terminal::say(format_args!(
        "\nNext:\n  cd {}\n  svc dev",
        folder.display()
    ));

    Ok(())
}

fn refuse_existing(folder: &Path) -> Result<()> {
    // Unlike `metadata`, this also finds a link to a missing file, which the rename would replace.
    let Ok(metadata) = fs::symlink_metadata(folder) else {
        return Ok(());
    };

    let hint = "choose another name, or remove it first";
    if !metadata.is_dir() {
        return Err(
            Failure::new(format!("{} exists and is not a folder", folder.display())).hint(hint),
        );
    }

    let mut entries =
        fs::read_dir(folder).map_err(Failure::io(format_args!("read {}", folder.display())))?;
    if entries.next().is_some() {
        return Err(Failure::new(format!(
            "the folder {} exists and is not empty",
            folder.display()
        ))
        .hint(hint));
    }

    Ok(())
}

/// Whether a parent folder has a manifest: cargo would treat the project as a part of its
/// workspace.
fn is_nested(folder: &Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else {
        return false;
    };
    folder
        .ancestors()
        .skip(1)
        .any(|above| above.join("Cargo.toml").is_file())
}

/// Writes the files to a temporary folder and then renames it, so that a failure leaves nothing
/// behind.
fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };

    fs::create_dir_all(parent).map_err(Failure::io(format_args!("create {}", parent.display())))?;
    let failed = || Failure::io(format_args!("write into {}", parent.display()).to_string());

    // In the same parent, because a rename cannot cross file systems.
    let place = tempfile::Builder::new()
        .prefix(".svc-init-")
        .tempdir_in(parent)
        .map_err(failed())?;
    let made = place.path().join("project");
    for (path, text) in files {
        let path = made.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed())?;
        }
        fs::write(path, text).map_err(failed())?;
    }

    fs::rename(&made, folder).map_err(Failure::io(format_args!("create {}", folder.display())))
}
