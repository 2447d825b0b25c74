//! The user's program: built by cargo, and started to describe itself.

mod build;
mod cargo;
mod description;
mod features;
mod names;
mod operation;
mod targets;

pub(crate) use build::{Build, Built, Group, build};
pub(crate) use description::{
    Argument, Description, Field, Function, Place, Relation, StartFinding, Statement, Through,
    Type, Write, WrittenColumn, describe,
};
pub(crate) use features::has_feature;
pub(crate) use names::{snake_case, table_of};
pub(crate) use operation::{Limits, Operation, PageSize};

/// The choice of a program of the project.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Choice {
    /// The program to use if the project has several: PACKAGE, PACKAGE:BINARY or :BINARY.
    #[arg(long, value_name = "PACKAGE[:BINARY]")]
    app: Option<String>,
}

impl Choice {
    /// Whether it is the only program of the project.
    pub(crate) fn is_usual(&self) -> bool {
        self.app.is_none()
    }

    /// The package and the binary.
    pub(crate) fn parts(&self) -> (Option<&str>, Option<&str>) {
        let Some(app) = self.app.as_deref() else {
            return (None, None);
        };
        let (package, binary) = app.split_once(':').unwrap_or((app, ""));
        (
            Some(package).filter(|part| !part.is_empty()),
            Some(binary).filter(|part| !part.is_empty()),
        )
    }
}
