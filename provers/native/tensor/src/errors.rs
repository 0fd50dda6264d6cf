//! Why plans and proofs are refused.

#![warn(missing_docs)]

use std::fmt;

/// Why a proof is not accepted, or could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reject {
    /// It ends inside the message of this label.
    Ends(String),
    /// A word of the message of this label is not below p.
    Word(String),
    /// It has so many bytes behind its end.
    Trailing(usize),
    /// An equation of the program does not hold.
    Equation,
    /// The denominator of the sum of fractions of the lookups is zero.
    Denominator,
    /// A level of that sum does not follow from the one below.
    Fractions,
    /// The sum's leaves are not what is looked up.
    LookedUp,
    /// A claim on a product of forms does not hold.
    Product,
    /// The challenge that scales products is zero.
    Scale,
    /// A Merkle opening has too few nodes.
    Node,
    /// An opened leaf does not belong to its root.
    Leaf,
    /// The last vector of an opening is not the one behind its root.
    LastVector,
    /// The tables do not open to the claimed values.
    Opening,
    /// Other roots were given than the plan has lists of ports.
    Roots {
        /// How many were given.
        found: usize,
        /// How many the plan expects.
        expected: usize,
    },
    /// The plan sends more values than were counted.
    MoreValues,
    /// The plan sends another number of values than was counted.
    OtherValues,
    /// The plan makes more claims than the security level allows.
    Claims,
    /// The plan's tables do not fit the field's domains.
    Domains,
    /// The verifier failed: a plan, or a proof, that no prover makes.
    Malformed,
    /// The prover's reason to make no proof.
    Unproved(String),
}

impl Reject {
    /// A prover's reason.
    pub fn because<T>(reason: impl Into<String>) -> Result<T, Reject> {
        Err(Reject::Unproved(reason.into()))
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = match self {
            Self::Ends(label) => return write!(out, "the proof ends inside {label}"),
            Self::Word(label) => return write!(out, "a word of {label} is not below p"),
            Self::Trailing(bytes) => return write!(out, "the proof has {bytes} bytes too many"),
            Self::Roots { found, expected } => {
                return write!(out, "expected {expected} roots, found {found}");
            }
            Self::Unproved(reason) => reason,
            Self::Equation => "an equation of the program does not hold",
            Self::Denominator => "the denominator of the sum of fractions is zero",
            Self::Fractions => "the sum of fractions of the lookups does not hold",
            Self::LookedUp => "a value that is looked up is not the one in the sum of fractions",
            Self::Product => "a claim on a product does not hold",
            Self::Scale => "the scale of products is zero",
            Self::Node => "a Merkle opening lacks a node",
            Self::Leaf => "an opened leaf does not belong to its commitment",
            Self::LastVector => "the last vector of an opening is not the one that was committed to",
            Self::Opening => "a commitment does not open to the claimed values",
            Self::MoreValues => "the plan sends more values than were counted",
            Self::OtherValues => "the plan sends another number of values than was counted",
            Self::Claims => "the plan needs more claims than the security level allows",
            Self::Domains => "the plan's tables do not fit the field's domains",
            Self::Malformed => "the verifier failed on a malformed proof",
        };
        write!(out, "{said}")
    }
}

impl std::error::Error for Reject {}

/// Why records do not fit together to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// So many numbers of openings, other than of lists of ports.
    OpeningsGiven(usize),
    /// A root for so many openings, which are none or too many.
    Openings(usize),
    /// So many lists of ports, not one less than commitments.
    Lists(usize),
    /// A commitment of so many variables, too few or too many.
    Commitment {
        /// Its number.
        number: usize,
        /// Its variables.
        variables: usize,
    },
    /// A base of a shape that is empty or too large.
    Shape {
        /// Its number.
        base: usize,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A base that refers to what is not there.
    Base(usize),
    /// A form of terms of other shapes.
    Form(usize),
    /// A lookup whose key, value and table do not fit.
    Lookup(usize),
    /// A table of another number of values or multiplicities.
    Table(usize),
    /// A form that should be zero is not there.
    Zeros,
    /// An extension of this degree.
    Degree(usize),
    /// A coefficient that is not below p.
    Coefficient,
    /// A base of this kind.
    Kind(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Degree(degree) => return write!(out, "expected degree 2 or 3, found {degree}"),
            Self::Coefficient => return write!(out, "expected a coefficient below p"),
            Self::Kind(kind) => return write!(out, "no base of kind {kind:?}"),
            _ => write!(out, "the plan does not fit together: ")?,
        }
        match self {
            Self::OpeningsGiven(found) => write!(out, "{found} numbers of openings"),
            Self::Openings(openings) => write!(out, "a root for {openings} openings"),
            Self::Lists(found) => write!(out, "{found} lists of ports"),
            Self::Commitment { number, variables } => {
                write!(out, "commitment {number} has {variables} variables")
            }
            Self::Shape { base, shape } => write!(out, "base {base} has shape {shape:?}"),
            Self::Base(number) => write!(out, "base {number}"),
            Self::Form(number) => write!(out, "form {number}"),
            Self::Lookup(number) => write!(out, "lookup {number}"),
            Self::Table(number) => write!(out, "table {number}"),
            _ => write!(out, "zeros"),
        }
    }
}

impl std::error::Error for PlanError {}

/// Why values are not those of a plan's bases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValuesError {
    /// Another number of arrays than of bases.
    Arrays {
        /// How many were given.
        found: usize,
        /// How many the plan expects.
        expected: usize,
    },
    /// Another number of values than the base's shape has.
    Values {
        /// The base.
        base: usize,
        /// How many were given.
        found: usize,
        /// How many the shape has.
        expected: usize,
    },
    /// The number of a row that is not below the rows, of which there are so many.
    Rows(u64),
}

impl fmt::Display for ValuesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrays { found, expected } => write!(out, "expected {expected} arrays, found {found}"),
            Self::Values {
                base,
                found,
                expected,
            } => write!(out, "base {base}: expected {expected} values, found {found}"),
            Self::Rows(extent) => write!(out, "expected rows below {extent}"),
        }
    }
}

impl std::error::Error for ValuesError {}
