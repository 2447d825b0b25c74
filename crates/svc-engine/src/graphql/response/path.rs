//! The path of a value in the response; a chain of borrowed links, so that a walk without errors
//! allocates nothing.

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

/// A place in the response.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'a self, index: usize) -> Path<'a> {
        Path::Index(self, index)
    }

    /// The path from the root.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut out = Vec::new();
        let mut here = self;
        loop {
            here = match here {
                Path::Root => break,
                Path::Key(parent, key) => {
                    out.push(Segment::Key((*key).to_owned()));
                    parent
                }
                Path::Index(parent, index) => {
                    out.push(Segment::Index(*index));
                    parent
                }
            };
        }

        out.reverse();

        out
    }
}
