//! The compiler's messages, without the parts that differ between machines and versions of the
//! libraries.

/// Lines that say nothing about the program.
const SUMMARIES: [&str; 3] = [
    "error: aborting due to",
    "For more information about ",
    "Some errors have detailed explanations",
];

/// Returns the messages with canonical margins, without summaries, and without the lines of other
/// files.
pub(super) fn normalized(messages: &str) -> String {
    let mut is_elsewhere = false;
    let mut normalized = String::new();
    for line in messages.lines() {
        if is_summary(line) {
            continue;
        }
        let line = match Line::of(line) {
            Line::Place { arrow, place } => {
                is_elsewhere = !place.starts_with("ui/");
                let place = match is_elsewhere {
                    // Another part of a library's file, shown if it is far from the first.
                    true if arrow == ":::" => continue,
                    true => file(place),
                    false => place.to_owned(),
                };
                format!("  {arrow} {place}")
            }
            // The source of a library may be missing.
            Line::Source { .. } if is_elsewhere => continue,
            Line::Source { number, text } => format!("{number:>2} |{text}"),
            Line::Note(text) => format!("   ={text}"),
            Line::Text(text) => without_counts(text),
        };
        // A message ends with one empty line.
        if !(line.is_empty() && (normalized.is_empty() || normalized.ends_with("\n\n"))) {
            normalized += &line;
            normalized += "\n";
        }
    }
    let end = normalized.trim_end().len();
    normalized.truncate(end);
    if end > 0 {
        normalized += "\n";
    }
    normalized
}

fn is_summary(line: &str) -> bool {
    SUMMARIES.iter().any(|summary| line.starts_with(summary))
        || (line.starts_with("warning: ") && line.ends_with(" emitted"))
        // The files in which the compiler keeps long names of types.
        || line.trim_start().starts_with("= note: the full name for the type has been written to")
        || line.trim_start().starts_with("= note: consider using `--verbose`")
}

/// A line of a message.
enum Line<'a> {
    /// The place that the following lines show.
    Place {
        arrow: &'a str,
        place: &'a str,
    },
    /// A line of source, or marks below one.
    Source {
        number: &'a str,
        text: &'a str,
    },
    /// A note in the margin.
    Note(&'a str),
    Text(&'a str),
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        let rest = line.trim_start();
        for arrow in ["-->", ":::"] {
            if let Some(place) = rest.strip_prefix(arrow) {
                return Self::Place {
                    arrow,
                    place: place.trim_start(),
                };
            }
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        // Text that begins with a space and a bar is a margin too.
        let is_margin = !number.is_empty() || line.starts_with(' ');
        if let Some(text) = after.strip_prefix('|').filter(|_| is_margin) {
            return Self::Source { number, text };
        }
        match after.strip_prefix('=') {
            Some(text) if number.is_empty() && line.starts_with(' ') => Self::Note(text),
            _ => Self::Text(line),
        }
    }
}

/// A file of a library, without its line and without the folders of one machine.
fn file(place: &str) -> String {
    let path = place.rsplitn(3, ':').last().unwrap_or(place);
    if let Some((_, path)) = path.split_once("/library/") {
        return format!("$RUST/{path}");
    }
    if let Some((_, path)) = path.split_once("/registry/src/") {
        let (_, path) = path.split_once('/').unwrap_or(("", path));
        let (package, path) = path.split_once('/').unwrap_or((path, ""));
        let name = package.rsplit_once('-').map_or(package, |(name, _)| name);
        return format!("$CARGO/{name}/{path}");
    }
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let workspace = workspace.strip_suffix("tests/").unwrap_or(workspace);
    format!(
        "$WORKSPACE/{}",
        path.strip_prefix(workspace).unwrap_or(path)
    )
}

/// Replaces the number of types that a message leaves out.
fn without_counts(text: &str) -> String {
    match text
        .trim_start()
        .strip_prefix("and ")
        .and_then(|rest| rest.strip_suffix(" others"))
    {
        Some(_) => text
            .replace(|character: char| character.is_ascii_digit(), "")
            .replace("and  ", "and $N "),
        None => text.to_owned(),
    }
}
