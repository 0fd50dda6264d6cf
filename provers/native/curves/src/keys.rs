//! What key files of all provers have in common.

#![warn(missing_docs)]

use crate::points::PointError;

/// Who knows the secrets behind a key: one machine in development, nobody after an honest ceremony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Secrets that one machine drew: whoever could read them can prove anything.
    Development = 1,
    /// Secrets of which every contributor to a ceremony held a part.
    Ceremony = 2,
}

impl Setup {
    /// How Python and messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Ceremony => "ceremony",
        }
    }

    /// The inverse of `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| setup.name() == name)
    }

    /// Of the number that files hold.
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| *setup as u32 == code)
    }
}

/// What is wrong with a file, or with reading it.
#[derive(Debug)]
pub enum Fault {
    /// It could not be read.
    Io(std::io::Error),
    /// What it holds is not what was expected.
    Content(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Content(message)
    }
}

impl From<PointError> for Fault {
    fn from(error: PointError) -> Self {
        Self::Content(error.to_string())
    }
}
