//! Why keys and proofs are refused.

#![warn(missing_docs)]

use std::fmt;

use circuitize_curves::keys::Fault;
use circuitize_curves::points::PointError;

use crate::keys::Kind;

/// A key, or a proof, of the other prover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherKind {
    /// What it is for.
    pub found: Kind,
    /// What it should be for.
    pub expected: Kind,
}

impl fmt::Display for OtherKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = (self.found.name(), self.expected.name());
        write!(
            out,
            "a key for the prover {found}, expected one for {expected}; remedy: use --prover {found}, or make keys for {expected}"
        )
    }
}

impl std::error::Error for OtherKind {}

impl From<OtherKind> for String {
    fn from(error: OtherKind) -> Self {
        error.to_string()
    }
}

/// Why bytes are not a sound verifying key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// It is of the other prover.
    Kind(OtherKind),
    /// It does not begin with the magic of such a file.
    Magic {
        /// What the file should hold.
        what: &'static str,
        /// What it should begin with.
        magic: &'static [u8; 16],
    },
    /// It is of another version.
    Version {
        /// What the file holds.
        what: &'static str,
        /// The version found.
        found: u32,
        /// The version that is read here.
        expected: u32,
    },
    /// It was set up in a way that is not known here.
    Setup {
        /// What the file holds.
        what: &'static str,
        /// The number found.
        found: u32,
    },
    /// Part of its header is not there.
    CutShort(&'static str),
    /// A number of its header is too large for this machine.
    Number(u64),
    /// Its header calls for another length; None for more than this machine can hold.
    Length {
        /// Bytes found.
        found: u64,
        /// Bytes that the header calls for.
        expected: Option<u64>,
    },
    /// Its checksum is not that of its content.
    Checksum,
    /// So many bytes make no points of a verifying key.
    Points(usize),
    /// It has a commitment to no wires, or no public wire for a challenge.
    Nothing,
    /// A point is not in its group.
    Point(PointError),
    /// Its delta is its gamma, up to the sign.
    Uncontributed,
    /// The delta of the committed wires is this other point of it, up to the sign.
    Forgeable(&'static str),
}

impl fmt::Display for KeyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(error) => error.fmt(out),
            Self::Magic { what, magic } => write!(
                out,
                "not a {what}: it does not begin with {:?}",
                String::from_utf8_lossy(*magic)
            ),
            Self::Version {
                what,
                found,
                expected,
            } => write!(
                out,
                "{what} of version {found}; this program reads version {expected}"
            ),
            Self::Setup { what, found } => write!(out, "{what} with unknown setup {found}"),
            Self::CutShort(part) => write!(out, "{part} is cut short"),
            Self::Number(number) => write!(out, "{number} is too large for this machine"),
            Self::Length {
                found,
                expected: Some(expected),
            } => write!(out, "{found} bytes, but its header calls for {expected}"),
            Self::Length {
                found,
                expected: None,
            } => write!(
                out,
                "{found} bytes, but its header calls for more than this machine can hold"
            ),
            Self::Checksum => write!(out, "its checksum does not match: it is damaged"),
            Self::Points(bytes) => write!(out, "{bytes} bytes do not make the points of a verifying key"),
            Self::Nothing => write!(
                out,
                "it commits to nothing, or has no public wire for a challenge"
            ),
            Self::Point(error) => error.fmt(out),
            Self::Uncontributed => write!(
                out,
                "delta is gamma up to its sign: nobody has contributed to this key yet, anyone can forge proofs for it"
            ),
            Self::Forgeable(other) => write!(
                out,
                "delta of the committed wires is {other} up to its sign: anyone can forge proofs for it"
            ),
        }
    }
}

impl std::error::Error for KeyError {}

impl From<KeyError> for Fault {
    fn from(error: KeyError) -> Self {
        Self::Content(error.to_string())
    }
}

impl From<PointError> for KeyError {
    fn from(error: PointError) -> Self {
        Self::Point(error)
    }
}

impl From<OtherKind> for KeyError {
    fn from(error: OtherKind) -> Self {
        Self::Kind(error)
    }
}

/// Why a proof does not show its statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// The key is for proofs of the other kind.
    Kind(OtherKind),
    /// Another number of public values than the key binds.
    Publics {
        /// How many were given.
        found: usize,
        /// How many the key expects, a challenge not counted.
        expected: usize,
        /// Whether the key draws a challenge besides.
        challenge: bool,
    },
    /// Another number of bytes than a proof of this kind has.
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// A point is not in its group.
    Point(PointError),
    /// The pairing equation does not hold.
    Equation,
}

impl fmt::Display for ProofError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(error) => error.fmt(out),
            Self::Publics {
                found,
                expected,
                challenge,
            } => {
                write!(out, "{found} public values; the key expects {expected}")?;
                match challenge {
                    true => write!(out, ", besides the challenge"),
                    false => Ok(()),
                }
            }
            Self::Length { found, expected } => {
                write!(out, "a proof has {expected} bytes, found {found}")
            }
            Self::Point(error) => error.fmt(out),
            Self::Equation => write!(out, "the pairing equation does not hold"),
        }
    }
}

impl std::error::Error for ProofError {}

impl From<PointError> for ProofError {
    fn from(error: PointError) -> Self {
        Self::Point(error)
    }
}

impl From<OtherKind> for ProofError {
    fn from(error: OtherKind) -> Self {
        Self::Kind(error)
    }
}
