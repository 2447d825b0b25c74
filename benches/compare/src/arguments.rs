//! The arguments of the program.

use clap::{Parser, value_parser};

/// The revisions, and the way of comparing them.
#[derive(Debug, Parser)]
#[command(about = "What a request costs two revisions of svc")]
pub(crate) struct Arguments {
    /// The revision to compare with, such as 161501a or main.
    #[arg(value_name = "REV")]
    pub(crate) first: String,
    /// The other revision; the work tree by default.
    #[arg(value_name = "REV")]
    pub(crate) second: Option<String>,
    /// The workloads of the side-by-side benchmark, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "Q1,Q2,Q3,Q4,Q5,Q6,Q7,Q8")]
    pub(crate) workloads: Vec<String>,
    /// Rounds of each workload, each with both servers.
    #[arg(long, default_value_t = 9, value_parser = value_parser!(u32).range(5..))]
    pub(crate) rounds: u32,
    /// Seconds of load on a server in a round.
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Connections at once.
    #[arg(long, default_value_t = 16, value_parser = value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,
    /// Counts the instructions of the servers under callgrind instead of their CPU time.
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Ends with 1 if the second revision costs more than the first by over this part, with the
    /// whole interval.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) bound: Option<f64>,
    /// Keeps the worktrees, so that the next build of the same revisions is short.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::Arguments;

    fn parsed(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["compare"][..], arguments].concat())
    }

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_single_revision_is_compared_with_the_work_tree() {
        let arguments = parsed(&["161501a"]).unwrap();

        assert_eq!(arguments.first, "161501a");
        assert_eq!(arguments.second, None);
        assert_eq!(arguments.workloads.join(" "), "Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8");
        assert_eq!(
            (arguments.rounds, arguments.seconds, arguments.concurrency),
            (9, 2, 16)
        );
        assert_eq!(arguments.bound, None);
        assert!(!arguments.instructions && !arguments.keep);
    }

    #[test]
    fn options_may_follow_the_revisions() {
        let arguments = parsed(&[
            "161501a",
            "HEAD",
            "--workloads",
            "Q1,Q7",
            "--rounds",
            "5",
            "--bound",
            "1.5",
            "--keep",
        ])
        .unwrap();

        assert_eq!(arguments.second.as_deref(), Some("HEAD"));
        assert_eq!(arguments.workloads, ["Q1", "Q7"]);
        assert_eq!(arguments.rounds, 5);
        assert_eq!(arguments.bound, Some(1.5));
        assert!(arguments.keep);
    }

    #[test]
    fn a_revision_is_required_and_rounds_are_at_least_five() {
        assert!(parsed(&[]).is_err());
        assert!(parsed(&["161501a", "--rounds", "4"]).is_err());
        assert!(parsed(&["161501a", "--seconds", "0"]).is_err());
        assert!(parsed(&["161501a", "HEAD", "HEAD"]).is_err());
    }
}
