//! Key files: canonical, bound to a digest, and ending in a SHA-256 checksum of everything before it.
//!
//! All integers are little-endian. A verifying key: magic (16 bytes), version (u32), setup (u32: 1 development,
//! 2 ceremony), digest (32 bytes), the shape (its bytes behind their count, u64), tau in G2 (128 bytes, normal form), and
//! the commitments of the fixed columns and of the permutations (64 bytes each, as in a proof). A proving key: magic,
//! version, the verifying key's file behind its length (u64), then the powers of tau and the Lagrange basis in
//! Montgomery form.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ark_bn254::G1Affine as ArkG1;
use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::halo2curves::serde::SerdeObject;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::convert::{g2_from_ark, scalar};
use super::keys::{Origin, ProvingKey, VerifyingKey};
use super::scheme::Bases;
use super::shape::{Lookup, Node, Shape};
use super::srs::Srs;
use super::transcript::{POINT_BYTES, point_bytes, point_of};
use crate::groth16::key_file::Fault;
use crate::groth16::keys::Setup;
use crate::groth16::points::{G1_BYTES, G2_BYTES, Reader, g1_raw, g2_raw, put_g1_raw, put_g2};

const VERIFYING: &[u8; 16] = b"circuitize-hl2vk";
const PROVING: &[u8; 16] = b"circuitize-hl2pk";
const VERSION: u32 = 1;
const CHECKSUM: usize = 32;
const HEAD: usize = 16 + 4 + 4 + 32 + 8;

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

fn put_counts(bytes: &mut Vec<u8>, counts: &[usize]) {
    put_count(bytes, counts.len());
    counts.iter().for_each(|&count| put_count(bytes, count));
}

fn encode_shape(shape: &Shape) -> Vec<u8> {
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
        bytes.extend(
            super::convert::normal(constant)
                .iter()
                .flat_map(|limb| limb.to_le_bytes()),
        );
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
struct Parser<'a>(&'a [u8]);

impl<'a> Parser<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    fn count(&mut self) -> Result<usize, String> {
        Ok(self.word()? as usize)
    }

    fn long(&mut self) -> Result<u64, String> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// The number of elements that follow, of at least `size` bytes each: no more than the file can hold.
    fn length(&mut self, size: usize) -> Result<usize, String> {
        let count = self.count()?;
        if count > self.0.len() / size {
            return Err("it is cut short".into());
        }
        Ok(count)
    }

    fn counts(&mut self) -> Result<Vec<usize>, String> {
        let count = self.length(4)?;
        (0..count).map(|_| self.count()).collect()
    }
}

fn decode_shape(bytes: &[u8]) -> Result<Shape, String> {
    let mut parser = Parser(bytes);
    let (rows, challenges, fixed) = (parser.count()?, parser.count()?, parser.count()?);
    let phases = parser
        .counts()?
        .into_iter()
        .map(|phase| u8::try_from(phase).map_err(|_| "a phase is out of range".to_string()))
        .collect::<Result<_, _>>()?;
    let (instances, copied) = (parser.counts()?, parser.counts()?);
    let count = parser.length(32)?;
    let mut constants = Vec::with_capacity(count);
    for _ in 0..count {
        let mut limbs = [0; 4];
        for limb in &mut limbs {
            *limb = parser.long()?;
        }
        constants.push(scalar(&limbs).ok_or("a constant is not below r")?);
    }
    let count = parser.length(12)?;
    let mut nodes = Vec::with_capacity(count);
    for place in 0..count {
        let parts = [
            parser.word()? as i32,
            parser.word()? as i32,
            parser.word()? as i32,
        ];
        nodes.push(Node::new(parts).ok_or_else(|| format!("node {place} is none: {parts:?}"))?);
    }
    let gates = parser.counts()?;
    let count = parser.length(8)?;
    let mut lookups = Vec::with_capacity(count);
    for _ in 0..count {
        let (inputs, table) = (parser.counts()?, parser.counts()?);
        lookups.push(Lookup { inputs, table });
    }
    if !parser.0.is_empty() {
        return Err("its shape has bytes behind its end".into());
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

fn content(key: &VerifyingKey) -> Vec<u8> {
    let shape = encode_shape(&key.shape);
    let mut bytes = VERIFYING.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((key.origin.setup as u32).to_le_bytes());
    bytes.extend(key.origin.digest);
    bytes.extend((shape.len() as u64).to_le_bytes());
    bytes.extend(shape);
    if let Some(tau) = g2_raw(&key.tau_g2.to_raw_bytes()) {
        put_g2(&mut bytes, &tau);
    }
    let commitments = key.key.fixed_commitments().iter();
    for commitment in commitments.chain(key.key.permutation().commitments()) {
        bytes.extend(point_bytes(commitment));
    }
    bytes
}

/// The SHA-256 of a verifying key's file without its last 32 bytes, which are this.
pub fn checksum(key: &VerifyingKey) -> [u8; 32] {
    Sha256::digest(content(key)).into()
}

/// A verifying key as the bytes of its file.
pub fn encode_verifying(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = content(key);
    bytes.extend(key.checksum);
    bytes
}

fn check_head(bytes: &[u8], magic: &[u8; 16], what: &str) -> Result<(), String> {
    if !bytes.starts_with(magic) {
        return Err(format!(
            "not a {what} for halo2: it does not begin with {:?}",
            String::from_utf8_lossy(magic)
        ));
    }
    let mut parser = Parser(&bytes[magic.len()..]);
    match parser.word()? {
        VERSION => Ok(()),
        version => Err(format!(
            "{what} of version {version}; this program reads version {VERSION}"
        )),
    }
}

/// A verifying key from the bytes of its file; every point is checked to be in its group.
pub fn decode_verifying(bytes: &[u8]) -> Result<VerifyingKey, String> {
    check_head(bytes, VERIFYING, "verifying key")?;
    if bytes.len() < HEAD + CHECKSUM {
        return Err("it is cut short".into());
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    let computed: [u8; 32] = Sha256::digest(content).into();
    if computed != checksum {
        return Err("its checksum does not match: it is damaged or cut short".into());
    }
    let mut parser = Parser(&content[20..]);
    let code = parser.word()?;
    let setup = Setup::from_code(code).ok_or_else(|| format!("a key with unknown setup {code}"))?;
    let digest = parser.take(32)?.try_into().map_err(|_| "it is cut short")?;
    let length = usize::try_from(parser.long()?).map_err(|_| "it is cut short")?;
    let shape = decode_shape(parser.take(length)?)?.check()?;
    let tau = Reader::new(parser.take(G2_BYTES)?).g2("tau in G2")?;
    let mut points = |count: usize| -> Result<Vec<G1Affine>, String> {
        let bytes = parser.take(count.saturating_mul(POINT_BYTES))?;
        bytes
            .chunks_exact(POINT_BYTES)
            .map(|bytes| point_of(bytes).ok_or("a commitment is not on the curve".to_string()))
            .collect()
    };
    let (fixed, permutation) = (points(shape.fixed)?, points(shape.copied.len())?);
    if !parser.0.is_empty() {
        return Err("it has bytes behind its commitments".into());
    }
    let key = VerifyingKey::new(
        Origin { setup, digest },
        shape,
        g2_from_ark(&tau),
        fixed,
        permutation,
    )?;
    match key.checksum == computed {
        true => Ok(key),
        false => Err("it is not written in the one form of its content".into()),
    }
}

/// The bytes of a proving key's file, in parts.
pub fn encode_proving(key: &ProvingKey) -> Vec<Vec<u8>> {
    let verifying = encode_verifying(&key.verifying);
    let mut head = PROVING.to_vec();
    head.extend(VERSION.to_le_bytes());
    head.extend((verifying.len() as u64).to_le_bytes());
    head.extend(verifying);
    let mut parts = vec![head];
    for points in [&key.srs.monomial, &key.srs.lagrange] {
        let mut bytes = Vec::with_capacity(points.len() * G1_BYTES);
        points.iter().for_each(|point| put_g1_raw(&mut bytes, point));
        parts.push(bytes);
    }
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    parts.push(hasher.finalize().to_vec());
    parts
}

/// Reads a proving key. The powers are not checked to lie in their group: a proving key is trusted for privacy, and a
/// proof from a wrong one is caught by the check that ends proving.
pub fn read_proving(path: &Path) -> Result<ProvingKey, Fault> {
    let mut file = File::open(path).map_err(Fault::Io)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(Fault::Io)?;
    check_head(&bytes, PROVING, "proving key")?;
    let content = bytes
        .len()
        .checked_sub(CHECKSUM)
        .map(|end| &bytes[..end])
        .ok_or("it is cut short".to_string())?;
    if Sha256::digest(content).as_slice() != &bytes[content.len()..] {
        return Err(Fault::Content(
            "its checksum does not match: it is damaged or cut short".into(),
        ));
    }
    let mut parser = Parser(content.get(20..).unwrap_or_default());
    let length = usize::try_from(parser.long()?).map_err(|_| "it is cut short".to_string())?;
    let verifying = Arc::new(decode_verifying(parser.take(length)?)?);
    let size = 1usize << verifying.k;
    let mut points = || -> Result<Vec<ArkG1>, String> {
        let bytes = parser.take(size * G1_BYTES)?;
        bytes
            .par_chunks_exact(G1_BYTES)
            .map(g1_raw)
            .collect::<Option<Vec<_>>>()
            .ok_or("a coordinate is not below the prime: it is damaged".to_string())
    };
    let (monomial, lagrange) = (points()?, points()?);
    if !parser.0.is_empty() {
        return Err(Fault::Content("it has bytes behind its points".into()));
    }
    let tau_g2 = g2_raw(&verifying.tau_g2.to_raw_bytes()).unwrap_or_default();
    let srs = Arc::new(Srs {
        monomial,
        lagrange,
        tau_g2,
    });
    let bases = Bases::new(srs.clone());
    Ok(ProvingKey {
        verifying,
        srs,
        bases,
    })
}
