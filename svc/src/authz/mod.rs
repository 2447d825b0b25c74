//! The one policy seam: nothing runs on a client's behalf without passing here.

mod gate;

pub(crate) use gate::{Gate, Pass};
