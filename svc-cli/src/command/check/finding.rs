//! Disagreements between the program and the database.

use crate::database::mentions;
use crate::program::Place;
use crate::project::Project;

/// A disagreement and its fix.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    place: Place,
    /// `User.name`.
    subject: String,
    problem: String,
    fix: String,
}

impl Finding {
    pub(super) fn new(
        place: &Place,
        subject: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            place: place.clone(),
            subject: subject.into(),
            problem: problem.into(),
            fix: fix.into(),
        }
    }

    /// A disagreement without a location in the source.
    pub(super) fn without_place(
        subject: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::new(
            &Place {
                file: String::new(),
                line: 0,
            },
            subject,
            problem,
            fix,
        )
    }

    /// Whether it is about a field, such as `Query.posts`, or, if none is named, about a view or a
    /// function.
    pub(super) fn is_about(&self, field: &str, source: &str) -> bool {
        if field.is_empty() {
            return mentions(&self.problem, source) || mentions(&self.fix, source);
        }

        // Findings about functions have the field alone as their subject.
        let name = field.split_once('.').map_or(field, |(_, name)| name);
        self.subject == field || self.subject == name
    }

    /// The lines for the terminal. The first line starts like the compiler's, so that editors find
    /// the place.
    pub(super) fn shown(&self, project: &Project) -> String {
        let Self {
            subject,
            problem,
            fix,
            ..
        } = self;

        if self.place.file.is_empty() {
            return format!("{subject}: {problem}\n    {fix}");
        }

        format!(
            "{}:{}: {subject}: {problem}\n    {fix}",
            self.file(project),
            self.place.line
        )
    }

    /// The sort key for reporting.
    pub(super) fn order(&self) -> (&str, u32) {
        (&self.place.file, self.place.line)
    }

    /// The file relative to the project's folder: for a member of a workspace, the compiler names
    /// it relative to the workspace.
    fn file(&self, project: &Project) -> String {
        let file = std::path::Path::new(&self.place.file);
        let parts: Vec<_> = file.components().collect();
        let rests =
            (0..parts.len()).map(|skipped| parts[skipped..].iter().collect::<std::path::PathBuf>());
        let found = rests
            .filter(|rest| rest.is_relative())
            .find(|rest| project.root().join(rest).is_file());

        found.map_or_else(
            || self.place.file.clone(),
            |found| found.display().to_string(),
        )
    }
}
