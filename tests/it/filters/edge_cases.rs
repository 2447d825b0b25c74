//! The cases that users of earlier systems ran into.
