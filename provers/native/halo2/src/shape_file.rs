//! A shape as bytes, in one form; all integers are little-endian.

use crate::convert::{normal, scalar};
use crate::errors::KeyError;
use crate::shape::{Lookup, Node, Shape};

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

fn put_counts(bytes: &mut Vec<u8>, counts: &[usize]) {
    put_count(bytes, counts.len());
    counts.iter().for_each(|&count| put_count(bytes, count));
}

pub fn encode(shape: &Shape) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_count(&mut bytes, shape.rows);
    put_count(&mut bytes, shape.challenges);
    put_count(&mut bytes, shape.fixed);
    put_counts(
        &mut bytes,
        &shape.phases.iter().map(|&phase| phase.into()).collect::<Vec<_>>(),
    );
    put_counts(&mut bytes, &shape.instances);
    put_counts(&mut bytes, &shape.copied);
    put_count(&mut bytes, shape.constants.len());
    for constant in &shape.constants {
        bytes.extend(normal(constant).iter().flat_map(|limb| limb.to_le_bytes()));
    }
    put_count(&mut bytes, shape.nodes.len());
    for node in &shape.nodes {
        for part in node.parts() {
            bytes.extend(part.to_le_bytes());
        }
    }
    put_counts(&mut bytes, &shape.gates);
    put_count(&mut bytes, shape.lookups.len());
    for lookup in &shape.lookups {
        put_counts(&mut bytes, &lookup.inputs);
        put_counts(&mut bytes, &lookup.table);
    }
    bytes
}

/// Reads what a file holds, never beyond its end.
pub struct Parser<'a>(pub &'a [u8]);

impl<'a> Parser<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], KeyError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(KeyError::CutShort)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn word(&mut self) -> Result<u32, KeyError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn count(&mut self) -> Result<usize, KeyError> {
        Ok(self.word()? as usize)
    }

    pub fn long(&mut self) -> Result<u64, KeyError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// The number of elements that follow, of at least `size` bytes each: no more than the file can hold.
    fn length(&mut self, size: usize) -> Result<usize, KeyError> {
        let count = self.count()?;
        if count > self.0.len() / size {
            return Err(KeyError::CutShort);
        }
        Ok(count)
    }

    fn counts(&mut self) -> Result<Vec<usize>, KeyError> {
        let count = self.length(4)?;
        (0..count).map(|_| self.count()).collect()
    }
}

pub fn decode(bytes: &[u8]) -> Result<Shape, KeyError> {
    let mut parser = Parser(bytes);
    let (rows, challenges, fixed) = (parser.count()?, parser.count()?, parser.count()?);
    let phases = parser
        .counts()?
        .into_iter()
        .map(|phase| u8::try_from(phase).map_err(|_| KeyError::Phase))
        .collect::<Result<_, _>>()?;
    let (instances, copied) = (parser.counts()?, parser.counts()?);
    let count = parser.length(32)?;
    let mut constants = Vec::with_capacity(count);
    for _ in 0..count {
        let mut limbs = [0; 4];
        for limb in &mut limbs {
            *limb = parser.long()?;
        }
        constants.push(scalar(&limbs).ok_or(KeyError::Constant)?);
    }
    let count = parser.length(12)?;
    let mut nodes = Vec::with_capacity(count);
    for place in 0..count {
        let parts = [
            parser.word()? as i32,
            parser.word()? as i32,
            parser.word()? as i32,
        ];
        nodes.push(Node::new(parts).ok_or(KeyError::Node { place, parts })?);
    }
    let gates = parser.counts()?;
    let count = parser.length(8)?;
    let mut lookups = Vec::with_capacity(count);
    for _ in 0..count {
        let (inputs, table) = (parser.counts()?, parser.counts()?);
        lookups.push(Lookup { inputs, table });
    }
    if !parser.0.is_empty() {
        return Err(KeyError::ShapeEnd);
    }
    Ok(Shape {
        rows,
        phases,
        fixed,
        instances,
        challenges,
        constants,
        nodes,
        gates,
        lookups,
        copied,
    })
}
