//! Rules on values from clients, beyond their types.

use async_graphql::MaybeUndefined;

/// A rule on an argument or a field of an input object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRule {
    /// The value may be omitted, but must not be null.
    NotNull,
    /// The number of characters of a text, or of items of a list.
    Length {
        /// The minimum.
        min: u32,
        /// The maximum, if there is one.
        max: Option<u32>,
    },
    /// The range of a number, as decimals.
    Range {
        /// The minimum.
        min: Option<&'static str>,
        /// The maximum.
        max: Option<&'static str>,
        /// Whether the maximum is exclusive.
        is_open: bool,
    },
    /// A regular expression that must match somewhere in the text.
    Pattern(&'static str),
}

impl InputRule {
    /// Creates the rule against null for an optional type.
    pub const fn not_null<T: OptionalInput>() -> Self {
        Self::NotNull
    }

    /// Creates the rule on the length of a value.
    pub const fn length<T: MeasuredInput>(min: u32, max: Option<u32>) -> Self {
        Self::Length { min, max }
    }

    /// Creates the rule on the range of a number.
    pub const fn range<T: NumberInput>(
        min: Option<&'static str>,
        max: Option<&'static str>,
        is_open: bool,
    ) -> Self {
        Self::Range { min, max, is_open }
    }

    /// Creates the rule on the pattern of a text.
    pub const fn pattern<T: TextInput>(pattern: &'static str) -> Self {
        Self::Pattern(pattern)
    }
}

/// A type that accepts null and absent values.
#[diagnostic::on_unimplemented(
    message = "`not_null` is for a type that can be left out, and `{Self}` cannot",
    label = "never null as it is",
    note = "remove `not_null`, or write `Patch<…>` or `Option<…>`"
)]
pub trait OptionalInput {}

/// A type with a length.
#[diagnostic::on_unimplemented(
    message = "`length(…)` is for texts and lists, and `{Self}` is neither",
    label = "this has no length",
    note = "remove `length(…)`; a scalar of your own checks its values in `parse`"
)]
pub trait MeasuredInput {}

/// A number, or a list of them.
#[diagnostic::on_unimplemented(
    message = "`range(…)` is for numbers, and `{Self}` is not one",
    label = "this is not a number",
    note = "remove `range(…)`, or write `length(…)` for the length of a text"
)]
pub trait NumberInput {}

/// A text, or a list of them.
#[diagnostic::on_unimplemented(
    message = "`pattern = …` is for texts, and `{Self}` is not one",
    label = "this is not a text",
    note = "remove `pattern = …`; a scalar of your own checks its values in `parse`"
)]
pub trait TextInput {}

impl<T> OptionalInput for Option<T> {}
impl<T> OptionalInput for MaybeUndefined<T> {}
impl<T: OptionalInput> OptionalInput for Box<T> {}

impl MeasuredInput for String {}
impl<T> MeasuredInput for Vec<T> {}
impl<T: MeasuredInput> MeasuredInput for Option<T> {}
impl<T: MeasuredInput> MeasuredInput for MaybeUndefined<T> {}
impl<T: MeasuredInput> MeasuredInput for Box<T> {}

impl TextInput for String {}
impl<T: TextInput> TextInput for Vec<T> {}
impl<T: TextInput> TextInput for Option<T> {}
impl<T: TextInput> TextInput for MaybeUndefined<T> {}
impl<T: TextInput> TextInput for Box<T> {}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl NumberInput for $number {})* };
}
numbers!(
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f32,
    f64,
    rust_decimal::Decimal
);
impl<T: NumberInput> NumberInput for Vec<T> {}
impl<T: NumberInput> NumberInput for Option<T> {}
impl<T: NumberInput> NumberInput for MaybeUndefined<T> {}
impl<T: NumberInput> NumberInput for Box<T> {}
