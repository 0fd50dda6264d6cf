//! A held file: all that a verifier must hold to check the folder of a proof, or of a run, again.
//!
//! The file is the verifier's own: whoever can choose it chooses what is shown. `circuitize hold` writes it of a folder that it
//! has checked (`circuitize.provers.held`). Integers have 8 little-endian bytes; a list, bytes and text begin with their
//! length. The file: magic (16 bytes), version, the lines of the verdict, blobs, entries, and SHA-256 of all before. An entry has a path in the
//! folder, a prover's name or `same`, the blobs with which the file must begin, and what that prover's verifier takes,
//! each in blobs: `same` nothing, for then these are the whole file; tensor an instance; the others a key and public values.
//!
//! Soundness: [`Check`] says the lines only where every entry's file was given once and held, and no other file was given.
//! The bytes in front of a proof equal those of the statement that the verdict was about, and the proof is verified against
//! an instance, or a key and public values, of the held file alone.

use std::collections::HashMap;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::publics::Publics;
use crate::{Refusal, groth16, halo2, mirage, tensor};

const MAGIC: &[u8; 16] = b"circuitize-heldf";
const VERSION: u64 = 1;
const SUM: usize = 32;
/// The characters of a name that are said.
const MOST_SHOWN: usize = 200;

/// Why bytes are no held file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldError {
    /// It does not begin with the magic of such a file.
    Magic,
    /// It is of this other version.
    Version(u64),
    /// Its checksum is not that of its content.
    Checksum,
    /// What stands in it is not written as held files are.
    Malformed,
}

impl fmt::Display for HeldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(
                out,
                "expected a held file, which circuitize hold writes, found another file"
            ),
            Self::Version(found) => write!(
                out,
                "expected a held file of version {VERSION}, found version {found}"
            ),
            Self::Checksum => write!(out, "expected a held file, found a damaged one: ask for it again"),
            Self::Malformed => write!(
                out,
                "expected a held file, found one that is not written as they are"
            ),
        }
    }
}

impl std::error::Error for HeldError {}

/// Why a folder is not what a held file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A file that the held file does not name.
    Unknown(String),
    /// A file of this path came a second time.
    Twice(String),
    /// There was no file of this path.
    Missing(String),
    /// The file, or what stands before its proof, states something else.
    States(String),
    /// The proof in this file does not hold.
    Proof(String, Refusal),
    /// Another file was refused before.
    Before,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, why) = match self {
            Self::Unknown(path) => (path, "the held file knows of no such file"),
            Self::Twice(path) => (path, "it is there twice"),
            Self::Missing(path) => (path, "it is missing"),
            Self::States(path) => (path, "it states something else than the held file"),
            Self::Proof(path, refusal) => {
                return write!(out, "{}: the proof does not hold: {refusal}", shown(path));
            }
            Self::Before => return write!(out, "another file was refused before"),
        };
        write!(out, "{}: {why}", shown(path))
    }
}

/// A name that somebody else wrote: on one line, of characters that act on no terminal and turn no text, and not long.
fn shown(path: &str) -> String {
    let kept: String = path.chars().take(MOST_SHOWN).collect();
    let more = if kept.len() < path.len() { "..." } else { "" };
    format!("{}{more}", kept.escape_debug())
}

impl std::error::Error for Reason {}

#[derive(Clone, Copy)]
enum Kind {
    Same,
    Groth16,
    Mirage,
    Halo2,
    Tensor,
}

type Blobs = Vec<usize>;

struct Entry {
    path: String,
    kind: Kind,
    head: Blobs,
    own: Vec<Blobs>,
}

/// A held file, read.
pub struct Held {
    digest: [u8; SUM],
    lines: Vec<String>,
    blobs: Vec<Vec<u8>>,
    entries: Vec<Entry>,
}

impl Held {
    /// Reads the bytes of a file.
    pub fn decode(bytes: &[u8]) -> Result<Self, HeldError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(HeldError::Magic)?;
        let (rest, sum) = rest.split_last_chunk::<SUM>().ok_or(HeldError::Checksum)?;
        let mut parser = Parser(rest);
        match parser.word()? {
            VERSION => {}
            other => return Err(HeldError::Version(other)),
        }
        if Sha256::digest(&bytes[..bytes.len() - SUM])[..] != sum[..] {
            return Err(HeldError::Checksum);
        }
        let lines = parser.list(Parser::text)?;
        let blobs = parser.list(|parser| Ok(parser.bytes()?.to_vec()))?;
        let entries = parser.list(|parser| parser.entry(blobs.len()))?;
        let mut paths = HashMap::new();
        let once = entries
            .iter()
            .all(|entry| paths.insert(entry.path.as_str(), ()).is_none());
        let proofs = entries.iter().filter(|entry| !matches!(entry.kind, Kind::Same));
        if !parser.0.is_empty() || !once || proofs.count() == 0 || lines.is_empty() {
            return Err(HeldError::Malformed);
        }
        let digest = Sha256::digest(bytes).into();
        Ok(Self {
            digest,
            lines,
            blobs,
            entries,
        })
    }

    /// SHA-256 of the whole file, by which two who hold it compare it.
    pub fn digest(&self) -> [u8; SUM] {
        self.digest
    }

    fn joined(&self, blobs: &Blobs) -> Vec<u8> {
        blobs
            .iter()
            .flat_map(|&blob| self.blobs[blob].iter().copied())
            .collect()
    }

    fn refusal(&self, entry: &Entry, proof: &[u8]) -> Option<Refusal> {
        let own = entry
            .own
            .iter()
            .map(|blobs| self.joined(blobs))
            .collect::<Vec<_>>();
        let publics = |bytes: &[u8]| Publics::decode(bytes).map_err(Refusal::Publics);
        let verdict = match (entry.kind, own.as_slice()) {
            (Kind::Groth16, [key, values]) => publics(values).and_then(|values| groth16(key, &values, proof)),
            (Kind::Mirage, [key, values]) => publics(values).and_then(|values| mirage(key, &values, proof)),
            (Kind::Halo2, [key, values]) => publics(values).and_then(|values| halo2(key, &values, proof)),
            (Kind::Tensor, [instance]) => tensor(instance, proof),
            _ => unreachable!("entries are read with as many parts as their kind has"),
        };
        verdict.err()
    }
}

/// The files of a folder, one after another, by what a held file says of them.
pub struct Check {
    held: Held,
    given: Vec<bool>,
    refused: bool,
}

impl Check {
    /// Of no file yet.
    pub fn new(held: Held) -> Self {
        let given = vec![false; held.entries.len()];
        Self {
            held,
            given,
            refused: false,
        }
    }

    /// Takes a file of the folder: its path there, with `/`, and its content. One that is refused refuses the folder.
    pub fn file(&mut self, path: &str, content: &[u8]) -> Result<(), Reason> {
        let reason = match self.refused {
            true => Some(Reason::Before),
            false => self.reason(path, content),
        };
        self.refused |= reason.is_some();
        reason.map_or(Ok(()), Err)
    }

    fn reason(&mut self, path: &str, content: &[u8]) -> Option<Reason> {
        let named = || path.to_owned();
        let found = self.held.entries.iter().position(|entry| entry.path == path);
        let Some(place) = found else {
            return Some(Reason::Unknown(named()));
        };
        if std::mem::replace(&mut self.given[place], true) {
            return Some(Reason::Twice(named()));
        }
        let entry = &self.held.entries[place];
        let head = self.held.joined(&entry.head);
        match (content.strip_prefix(head.as_slice()), entry.kind) {
            (Some([]), Kind::Same) => None,
            (None, _) | (_, Kind::Same) => Some(Reason::States(named())),
            (Some(proof), _) => self
                .held
                .refusal(entry, proof)
                .map(|refusal| Reason::Proof(named(), refusal)),
        }
    }

    /// The lines of the verdict, where every file was given and held.
    pub fn finish(self) -> Result<Vec<String>, Reason> {
        if self.refused {
            return Err(Reason::Before);
        }
        match self.given.iter().position(|given| !given) {
            Some(place) => Err(Reason::Missing(self.held.entries[place].path.clone())),
            None => Ok(self.held.lines),
        }
    }
}

/// Reads what a file holds, never beyond its end.
struct Parser<'a>(&'a [u8]);

impl<'a> Parser<'a> {
    fn word(&mut self) -> Result<u64, HeldError> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or(HeldError::Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    fn number(&mut self) -> Result<usize, HeldError> {
        usize::try_from(self.word()?).map_err(|_| HeldError::Malformed)
    }

    fn bytes(&mut self) -> Result<&'a [u8], HeldError> {
        let count = self.number()?;
        let (taken, rest) = self.0.split_at_checked(count).ok_or(HeldError::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<String, HeldError> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| HeldError::Malformed)
    }

    /// Each item has 8 bytes or more.
    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, HeldError>) -> Result<Vec<T>, HeldError> {
        let count = self.number()?;
        if count > self.0.len() / 8 {
            return Err(HeldError::Malformed);
        }
        (0..count).map(|_| read(self)).collect()
    }

    fn blobs(&mut self, count: usize) -> Result<Blobs, HeldError> {
        let found = self.list(Self::number)?;
        match found.iter().all(|&blob| blob < count) {
            true => Ok(found),
            false => Err(HeldError::Malformed),
        }
    }

    fn entry(&mut self, count: usize) -> Result<Entry, HeldError> {
        let path = self.text()?;
        let (kind, parts) = match self.bytes()? {
            b"same" => (Kind::Same, 0),
            b"groth16" => (Kind::Groth16, 2),
            b"mirage" => (Kind::Mirage, 2),
            b"halo2" => (Kind::Halo2, 2),
            b"tensor" => (Kind::Tensor, 1),
            _ => return Err(HeldError::Malformed),
        };
        let head = self.blobs(count)?;
        let own = self.list(|parser| parser.blobs(count))?;
        match own.len() == parts {
            true => Ok(Entry {
                path,
                kind,
                head,
                own,
            }),
            false => Err(HeldError::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_neither_ends_a_line_nor_turns_it() {
        let said = Reason::Unknown("x\nvalid: it proves\x1b[2J\u{202e}\u{200b}".into()).to_string();
        assert!(
            said.chars()
                .all(|one| !one.is_control() && !"\u{202e}\u{200b}".contains(one)),
            "{said}"
        );
        assert!(
            said.starts_with("x\\nvalid: it proves\\u{1b}[2J\\u{202e}\\u{200b}: the held file"),
            "{said}"
        );
        let long = Reason::Missing("é".repeat(5000)).to_string();
        assert!(
            long.chars().count() < 300 && long.contains("...: it is missing"),
            "{long}"
        );
    }
}
