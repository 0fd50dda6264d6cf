//! What key files of all provers have in common.

/// Who knows the secrets behind a key: one machine in development, nobody after an honest ceremony.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    Development = 1,
    Ceremony = 2,
}

impl Setup {
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Ceremony => "ceremony",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| setup.name() == name)
    }

    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| *setup as u32 == code)
    }
}

/// What is wrong with a file, or with reading it.
pub enum Fault {
    Io(std::io::Error),
    Content(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Content(message)
    }
}
