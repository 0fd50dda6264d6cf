//! What a verifier holds beside a proof, as one file: a plan, and the statement that the proof must be of.
//!
//! The file is the verifier's own: it follows from its program and from the values and roots that it expects, and whoever
//! can change it chooses what is verified. A proof's folder holds none of it. Python writes it:
//! `circuitize.provers.tensor.instance`.
//!
//! All integers have 8 little-endian bytes, negative ones in two's complement. A list, a string, and a tuple too, begins with
//! how many items or bytes follow; nothing is the empty list. The file: magic (16 bytes), version, then one tuple of the
//! program's digest, the statement's, its context, degree, lists of ports, commitments, bases, views, forms, lookups, tables, zeros,
//! openings, the roots of all commitments but the last, and for each base its public values.

#![warn(missing_docs)]

use std::fmt;

use crate::claims::{Values, check_values};
use crate::errors::{PlanError, Reject, ValuesError};
use crate::field::F;
use crate::merkle::Digest;
use crate::plan::{Base, Plan};
use crate::protocol::{Statement, verify};
use crate::records::{FormRecord, Records, StepRecord, TermRecord, ViewRecord};

const MAGIC: &[u8; 16] = b"circuitize-tenin";
const VERSION: u64 = 1;

/// A plan, and the statement that a proof by it must be of.
pub struct Instance {
    plan: Plan,
    program: Digest,
    digest: Vec<u8>,
    context: Vec<u8>,
    roots: Vec<Digest>,
    values: Values,
}

/// Why bytes are no instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceError {
    /// It does not begin with the magic of such a file.
    Magic,
    /// It is of this other version.
    Version(u64),
    /// It ends too soon.
    CutShort,
    /// It has bytes behind its end.
    Trailing,
    /// A list, a number or a string is not what stands there.
    Malformed,
    /// Its records make no plan.
    Plan(PlanError),
    /// Its values are not the plan's.
    Values(ValuesError),
}

impl fmt::Display for InstanceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(
                out,
                "not an instance: it does not begin with {:?}",
                String::from_utf8_lossy(MAGIC)
            ),
            Self::Version(found) => write!(
                out,
                "instance of version {found}; this program reads version {VERSION}"
            ),
            Self::CutShort => write!(out, "it is cut short"),
            Self::Trailing => write!(out, "it has bytes behind its end"),
            Self::Malformed => write!(out, "it is not written as instances are"),
            Self::Plan(error) => error.fmt(out),
            Self::Values(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for InstanceError {}

impl Instance {
    /// Reads the bytes of a file.
    pub fn decode(bytes: &[u8]) -> Result<Self, InstanceError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(InstanceError::Magic)?;
        let mut parser = Parser(rest);
        match parser.word()? {
            VERSION => {}
            other => return Err(InstanceError::Version(other)),
        }
        parser.tuple(15)?;
        let program = parser.digest()?;
        let (digest, context) = (parser.bytes()?.to_vec(), parser.bytes()?.to_vec());
        let records = Records {
            degree: parser.number()?,
            ports: parser.list(|parser| Ok(parser.bytes()?.to_vec()))?,
            commitments: parser.numbers()?,
            bases: parser.list(Parser::base)?,
            views: parser.list(Parser::view)?,
            forms: parser.list(Parser::form)?,
            lookups: parser.list(|parser| {
                parser.tuple(3)?;
                let (table, key) = (parser.number()?, parser.number()?);
                let value = parser.optional(1, Parser::number)?;
                Ok((table, key, value))
            })?,
            tables: parser.list(|parser| {
                parser.tuple(3)?;
                Ok((parser.number()?, parser.elements()?, parser.number()?))
            })?,
            zeros: parser.numbers()?,
            openings: parser.optional(1, Parser::numbers)?,
        };
        let roots = parser.list(Parser::digest)?;
        let values = parser.list(Parser::elements)?;
        if !parser.0.is_empty() {
            return Err(InstanceError::Trailing);
        }
        let plan = Plan::of(records).map_err(InstanceError::Plan)?;
        check_values(&plan, &values, None).map_err(InstanceError::Values)?;
        Ok(Self {
            plan,
            program,
            digest,
            context,
            roots,
            values,
        })
    }

    /// The digest of the program that is proved, which a proof's file names.
    pub fn program(&self) -> Digest {
        self.program
    }

    /// Whether proofs of it are in zero knowledge.
    pub fn hidden(&self) -> bool {
        self.plan.hidden
    }

    /// Checks a proof's messages: what stands behind the header of its file.
    pub fn verify(&self, messages: &[u8]) -> Result<(), Reject> {
        let statement = Statement {
            digest: &self.digest,
            context: &self.context,
            roots: self.roots.clone(),
        };
        verify(&self.plan, &statement, &self.values, messages)
    }
}

/// Reads what a file holds, never beyond its end.
struct Parser<'a>(&'a [u8]);

impl<'a> Parser<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], InstanceError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(InstanceError::CutShort)?;
        self.0 = rest;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u64, InstanceError> {
        let bytes = self.take(8)?.try_into();
        Ok(u64::from_le_bytes(bytes.map_err(|_| InstanceError::CutShort)?))
    }

    fn number(&mut self) -> Result<usize, InstanceError> {
        usize::try_from(self.word()?).map_err(|_| InstanceError::Malformed)
    }

    fn signed(&mut self) -> Result<i64, InstanceError> {
        Ok(self.word()? as i64)
    }

    fn bytes(&mut self) -> Result<&'a [u8], InstanceError> {
        let count = self.number()?;
        self.take(count)
    }

    fn digest(&mut self) -> Result<Digest, InstanceError> {
        self.bytes()?.try_into().map_err(|_| InstanceError::Malformed)
    }

    /// How many items follow: none has less than 8 bytes.
    fn count(&mut self) -> Result<usize, InstanceError> {
        let count = self.number()?;
        match count <= self.0.len() / 8 {
            true => Ok(count),
            false => Err(InstanceError::CutShort),
        }
    }

    fn tuple(&mut self, items: usize) -> Result<(), InstanceError> {
        match self.count()? == items {
            true => Ok(()),
            false => Err(InstanceError::Malformed),
        }
    }

    /// Nothing, or what a tuple of so many items makes.
    fn optional<T>(
        &mut self,
        items: usize,
        read: impl Fn(&mut Self) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        match self.count()? {
            0 => Ok(None),
            found if found == items => read(self).map(Some),
            _ => Err(InstanceError::Malformed),
        }
    }

    fn list<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, InstanceError>,
    ) -> Result<Vec<T>, InstanceError> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn numbers(&mut self) -> Result<Vec<usize>, InstanceError> {
        self.list(Self::number)
    }

    fn integers(&mut self) -> Result<Vec<i64>, InstanceError> {
        self.list(Self::signed)
    }

    fn elements(&mut self) -> Result<Vec<F>, InstanceError> {
        Ok(self.integers()?.into_iter().map(F::signed).collect())
    }

    fn base(&mut self) -> Result<Base, InstanceError> {
        let items = self.count()?;
        let kind = self.bytes()?;
        let shape = self.numbers()?;
        match (kind, items) {
            (b"column", 4) => Ok(Base::Column {
                commitment: self.number()?,
                offset: self.number()?,
                shape,
            }),
            (b"public", 2) => Ok(Base::Public { shape }),
            (b"rows", 4) => Ok(Base::Rows {
                shape,
                column: self.number()?,
                index: self.number()?,
            }),
            (b"constant", 3) => Ok(Base::Constant {
                shape,
                values: self.elements()?,
            }),
            (b"product", 4) => {
                self.tuple(3)?;
                let letters = [self.bytes()?, self.bytes()?, self.bytes()?].map(<[u8]>::to_vec);
                self.tuple(2)?;
                Ok(Base::Product {
                    shape,
                    letters,
                    forms: [self.number()?, self.number()?],
                })
            }
            _ => Err(InstanceError::Malformed),
        }
    }

    fn view(&mut self) -> Result<ViewRecord, InstanceError> {
        self.tuple(2)?;
        Ok((self.numbers()?, self.list(Self::step)?))
    }

    fn step(&mut self) -> Result<StepRecord, InstanceError> {
        self.tuple(2)?;
        let shape = self.numbers()?;
        let affine = self.optional(2, |parser| {
            let strides = |parser: &mut Self| parser.list(Self::integers);
            Ok((parser.integers()?, strides(parser)?))
        })?;
        Ok((shape, affine))
    }

    fn form(&mut self) -> Result<FormRecord, InstanceError> {
        self.tuple(2)?;
        Ok((self.numbers()?, self.list(Self::term)?))
    }

    fn term(&mut self) -> Result<TermRecord, InstanceError> {
        self.tuple(3)?;
        let (coefficient, base) = (self.word()?, self.number()?);
        let path = self.list(|parser| {
            parser.tuple(2)?;
            let view = parser.number()?;
            match parser.word()? {
                0 => Ok((view, false)),
                1 => Ok((view, true)),
                _ => Err(InstanceError::Malformed),
            }
        })?;
        Ok((coefficient, base, path))
    }
}
