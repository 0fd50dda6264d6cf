//! Files of proving keys; `key_file` says what stands where.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ark_bn254::G1Affine as ArkG1;
use circuitize_curves::keys::Fault;
use circuitize_curves::points::{G1_BYTES, g1_raw, g2_raw, put_g1_raw};
use halo2_axiom::halo2curves::serde::SerdeObject;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::errors::KeyError;
use crate::key_file::{CHECKSUM, VERSION, check_head, decode_verifying, encode_verifying};
use crate::proving_key::ProvingKey;
use crate::scheme::Bases;
use crate::shape_file::Parser;
use crate::srs::Srs;

const PROVING: &[u8; 16] = b"circuitize-hl2pk";

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
        .ok_or(KeyError::CutShort)?;
    if Sha256::digest(content).as_slice() != &bytes[content.len()..] {
        return Err(KeyError::Checksum.into());
    }
    let mut parser = Parser(content.get(20..).unwrap_or_default());
    let length = usize::try_from(parser.long()?).map_err(|_| KeyError::CutShort)?;
    let verifying = Arc::new(decode_verifying(parser.take(length)?)?);
    let size = 1usize << verifying.k;
    let mut points = || -> Result<Vec<ArkG1>, Fault> {
        let bytes = parser.take(size * G1_BYTES)?;
        bytes
            .par_chunks_exact(G1_BYTES)
            .map(g1_raw)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Fault::Content("a coordinate is not below the prime: it is damaged".into()))
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
