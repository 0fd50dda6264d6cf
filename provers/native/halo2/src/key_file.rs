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

use crate::convert::g2_from_ark;
use crate::keys::{Origin, ProvingKey, VerifyingKey};
use crate::scheme::Bases;
use crate::shape_file::{self, Parser};
use crate::srs::Srs;
use crate::transcript::{POINT_BYTES, point_bytes, point_of};
use circuitize_curves::keys::Fault;
use circuitize_curves::keys::Setup;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, Reader, g1_raw, g2_raw, put_g1_raw, put_g2};

const VERIFYING: &[u8; 16] = b"circuitize-hl2vk";
const PROVING: &[u8; 16] = b"circuitize-hl2pk";
const VERSION: u32 = 1;
const CHECKSUM: usize = 32;
const HEAD: usize = 16 + 4 + 4 + 32 + 8;

fn content(key: &VerifyingKey) -> Vec<u8> {
    let shape = shape_file::encode(&key.shape);
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
    let shape = shape_file::decode(parser.take(length)?)?.check()?;
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
