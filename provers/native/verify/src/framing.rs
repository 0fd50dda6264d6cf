//! How the file of every proof begins: a magic, a version, whether it is zero-knowledge, and the program's digest.

use std::fmt;

/// Why bytes are not the file of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    /// It does not begin with this magic.
    Magic(&'static [u8; 16]),
    /// Its header is cut short.
    CutShort,
    /// It is of another version, or its flags say another kind of knowledge.
    Version {
        /// The version found.
        version: u32,
        /// 1 for zero knowledge, else 0.
        flags: u32,
    },
    /// It has so many bytes behind its end.
    Trailing(usize),
    /// It has another number of chunks, or of bytes, than its header says.
    Length,
}

impl fmt::Display for FramingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic(magic) => write!(
                out,
                "expected a proof to begin with {:?}",
                String::from_utf8_lossy(*magic)
            ),
            Self::CutShort => write!(out, "the proof's file is cut short"),
            Self::Version { version, flags } => {
                write!(
                    out,
                    "a proof of version {version} with flags {flags}, which is not read here"
                )
            }
            Self::Trailing(bytes) => write!(out, "the proof's file has {bytes} bytes behind its end"),
            Self::Length => write!(out, "the proof's file has another length than its header says"),
        }
    }
}

impl std::error::Error for FramingError {}

fn word(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

/// The digest that the proof claims to be for, and what stands behind the header.
pub fn split<'a>(
    file: &'a [u8],
    magic: &'static [u8; 16],
    version: u32,
    zero_knowledge: bool,
) -> Result<([u8; 32], &'a [u8]), FramingError> {
    let rest = file.strip_prefix(magic).ok_or(FramingError::Magic(magic))?;
    let (numbers, rest) = rest.split_at_checked(8).ok_or(FramingError::CutShort)?;
    let (digest, rest) = rest.split_first_chunk::<32>().ok_or(FramingError::CutShort)?;
    let (found, flags) = (word(&numbers[..4]), word(&numbers[4..]));
    match (found, flags) == (version, u32::from(zero_knowledge)) {
        true => Ok((*digest, rest)),
        false => Err(FramingError::Version {
            version: found,
            flags,
        }),
    }
}

/// The messages of a tensor proof, behind the number of its chunks, which is one, and their length.
pub fn one_chunk(rest: &[u8]) -> Result<&[u8], FramingError> {
    let (numbers, messages) = rest.split_at_checked(16).ok_or(FramingError::CutShort)?;
    let expected = [1u64.to_le_bytes(), (messages.len() as u64).to_le_bytes()].concat();
    match numbers == expected {
        true => Ok(messages),
        false => Err(FramingError::Length),
    }
}
