//! Authorization: the one gate that every root field passes before it runs, whichever path answers it.

mod admission;
mod gate;
#[cfg_attr(not(test), expect(dead_code, reason = "the policies of applications will be made of it"))]
mod policy;
#[cfg_attr(not(test), expect(dead_code, reason = "the policies of applications will ask for it"))]
mod question;
#[cfg(test)]
mod tests;

pub(crate) use admission::{Admission, AllAdmitted, Roots};
pub(crate) use gate::Gate;
pub(crate) use question::Question;
