//! One error: a kind and a byte offset. Its prose is made here, when somebody asks for it.

use std::fmt;

/// What is wrong with a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    UnexpectedEnd,
    UnexpectedByte,
    ControlCharacter,
    BadEscape,
    BadNumber,
    BadUtf8,
    NotFinite,
    TooDeep,
    TrailingText,
    DuplicateMember,
    LoneSurrogate,
    NotAnObject,
    TooLarge,
    HugeExponent,
}

/// A fault of a JSON text: the first byte that cannot stand where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    pub kind: Kind,
    /// Offset of the faulty byte from the start of the text that was handed in.
    pub offset: usize,
}

impl Error {
    #[must_use]
    pub const fn new(kind: Kind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

impl Kind {
    /// The kind as a word that programs may compare.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "unexpected_end",
            Self::UnexpectedByte => "unexpected_byte",
            Self::ControlCharacter => "control_character",
            Self::BadEscape => "bad_escape",
            Self::BadNumber => "bad_number",
            Self::BadUtf8 => "bad_utf8",
            Self::NotFinite => "not_finite",
            Self::TooDeep => "too_deep",
            Self::TrailingText => "trailing_text",
            Self::DuplicateMember => "duplicate_member",
            Self::LoneSurrogate => "lone_surrogate",
            Self::NotAnObject => "not_an_object",
            Self::TooLarge => "too_large",
            Self::HugeExponent => "huge_exponent",
        }
    }

    /// The kind in prose, without its place.
    #[must_use]
    pub const fn prose(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "unexpected end of input",
            Self::UnexpectedByte => "unexpected character",
            Self::ControlCharacter => "control character in a string",
            Self::BadEscape => "invalid escape in a string",
            Self::BadNumber => "invalid number",
            Self::BadUtf8 => "invalid UTF-8",
            Self::NotFinite => "NaN and Infinity are not JSON",
            Self::TooDeep => "nested deeper than 256 levels",
            Self::TrailingText => "trailing text after the JSON value",
            Self::DuplicateMember => "member name given twice",
            Self::LoneSurrogate => "half of a surrogate pair in a string",
            Self::NotAnObject => "not a JSON object",
            Self::TooLarge => "longer than the limit",
            Self::HugeExponent => "exponent of more than 36 digits",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::UnexpectedEnd => formatter.write_str(self.kind.prose()),
            kind => write!(formatter, "{} at byte {}", kind.prose(), self.offset),
        }
    }
}

impl std::error::Error for Error {}
