//! Why shapes, keys and proofs are refused.

#![warn(missing_docs)]

use std::fmt;

use circuitize_curves::keys::Fault;
use circuitize_curves::points::PointError;

use crate::shape::{LARGEST_CHALLENGES, LARGEST_DEGREE, LARGEST_K, LARGEST_TREE, Node};

/// Why a shape is not that of a constraint system that can be proved soundly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// So many rows, which are none or too many.
    Rows(usize),
    /// There is no advice column of phase 0.
    NoFirstPhase,
    /// An advice column of this phase, beyond 1.
    Phase(u8),
    /// There is a column of phase 1, but no challenge.
    NoChallenge,
    /// So many challenges, which are too many.
    Challenges(usize),
    /// An instance column is longer than the rows.
    LongInstance,
    /// There are no instance values.
    NoInstance,
    /// A copied column is not there, or they are not in order.
    Copied,
    /// A node names what is not there.
    Node {
        /// Its number.
        place: usize,
        /// What it says.
        node: Node,
    },
    /// A lookup has no inputs, or not as many as table columns.
    Lookup,
    /// A gate or a lookup names a node that is not there.
    Root,
    /// Gates and lookups multiply out to so many nodes, which are too many.
    Tree(u64),
    /// A gate or a lookup has this degree, which is too high.
    Degree(u64),
    /// The gate of this number is not zero where all fixed columns are.
    Unselected(usize),
    /// It needs 2 to this power of rows, which are too many.
    Large(u32),
}

impl fmt::Display for ShapeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(found) => write!(out, "expected 1 to 2^{LARGEST_K} - 1 rows, found {found}"),
            Self::NoFirstPhase => write!(out, "expected an advice column of phase 0, found none"),
            Self::Phase(found) => {
                write!(out, "expected phases 0 and 1 of advice columns, found {found}")
            }
            Self::NoChallenge => write!(out, "a column of phase 1 without a challenge"),
            Self::Challenges(found) => {
                write!(out, "{found} challenges, expected at most {LARGEST_CHALLENGES}")
            }
            Self::LongInstance => write!(out, "an instance column is longer than the rows"),
            Self::NoInstance => write!(out, "the system binds nothing: it has no instance values"),
            Self::Copied => write!(out, "a copied column is out of range"),
            Self::Node { place, node } => write!(out, "node {place} is out of range: {node:?}"),
            Self::Lookup => write!(
                out,
                "a lookup needs as many inputs as table columns, and at least one"
            ),
            Self::Root => write!(out, "a gate or lookup names a node that is not there"),
            Self::Tree(total) => write!(
                out,
                "gates and lookups multiply out to {total} nodes, expected at most {LARGEST_TREE}"
            ),
            Self::Degree(degree) => write!(
                out,
                "a gate or lookup of degree {degree}, expected at most {LARGEST_DEGREE}"
            ),
            Self::Unselected(place) => write!(
                out,
                "gate {place} is not zero where all fixed columns are zero; remedy: multiply it by a selector"
            ),
            Self::Large(k) => write!(out, "it needs 2^{k} rows, at most 2^{LARGEST_K} are supported"),
        }
    }
}

impl std::error::Error for ShapeError {}

impl From<ShapeError> for String {
    fn from(error: ShapeError) -> Self {
        error.to_string()
    }
}

/// Why bytes are not a sound key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
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
    /// It ends too soon.
    CutShort,
    /// Its checksum is not that of its content.
    Checksum,
    /// It was set up in a way, of this number, that is not known here.
    Setup(u32),
    /// tau is not in its group.
    Point(PointError),
    /// A commitment is not on the curve.
    Commitment,
    /// Other numbers of commitments than of columns.
    Commitments,
    /// It has bytes behind its commitments.
    Trailing,
    /// Its content has another form, which is the one that is written.
    Form,
    /// The number of a phase is no byte.
    Phase,
    /// A constant is not below r.
    Constant,
    /// A node is of no kind.
    Node {
        /// Its number.
        place: usize,
        /// What stands for it.
        parts: [i32; 3],
    },
    /// Its shape has bytes behind its end.
    ShapeEnd,
    /// Its shape cannot be proved soundly.
    Shape(ShapeError),
}

impl fmt::Display for KeyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { what, magic } => write!(
                out,
                "not a {what} for halo2: it does not begin with {:?}",
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
            Self::CutShort => write!(out, "it is cut short"),
            Self::Checksum => write!(out, "its checksum does not match: it is damaged or cut short"),
            Self::Setup(code) => write!(out, "a key with unknown setup {code}"),
            Self::Point(error) => error.fmt(out),
            Self::Commitment => write!(out, "a commitment is not on the curve"),
            Self::Commitments => write!(out, "other numbers of commitments than of columns"),
            Self::Trailing => write!(out, "it has bytes behind its commitments"),
            Self::Form => write!(out, "it is not written in the one form of its content"),
            Self::Phase => write!(out, "a phase is out of range"),
            Self::Constant => write!(out, "a constant is not below r"),
            Self::Node { place, parts } => write!(out, "node {place} is none: {parts:?}"),
            Self::ShapeEnd => write!(out, "its shape has bytes behind its end"),
            Self::Shape(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for KeyError {}

impl From<ShapeError> for KeyError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl From<PointError> for KeyError {
    fn from(error: PointError) -> Self {
        Self::Point(error)
    }
}

impl From<KeyError> for Fault {
    fn from(error: KeyError) -> Self {
        Self::Content(error.to_string())
    }
}

impl From<KeyError> for String {
    fn from(error: KeyError) -> Self {
        error.to_string()
    }
}

/// Why a proof does not show its statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// The public columns have other lengths than the key's.
    Instances {
        /// Lengths found.
        found: Vec<usize>,
        /// Lengths that the key expects.
        expected: Vec<usize>,
    },
    /// A message of the proof is not there, or is not what it should be.
    Message(String),
    /// Its equations do not hold.
    Equations,
    /// There are so many bytes after its end.
    Trailing(usize),
}

impl fmt::Display for ProofError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instances { found, expected } => write!(
                out,
                "public columns of lengths {found:?}; the key expects {expected:?}"
            ),
            Self::Message(reason) => write!(out, "{reason}"),
            Self::Equations => write!(out, "its equations do not hold"),
            Self::Trailing(more) => write!(out, "{more} bytes after the end of the proof"),
        }
    }
}

impl std::error::Error for ProofError {}
