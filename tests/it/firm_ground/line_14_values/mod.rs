//! Values with a form of their own: blanks at the end, far years, fractions of a microsecond, names that SQL uses.

mod dates;
mod names;
mod texts;
mod variables;
