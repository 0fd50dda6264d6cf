//! Proving keys from their files; `key_file` says what stands where.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ark_bn254::{G2Affine, g1::Config};
use circuitize_curves::keys::Fault;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, Reader, g1_raw, g2_raw};
use sha2::{Digest, Sha256};

use crate::key_file::{
    CHECKSUM, Half, check_length, check_sum, header_bytes, number, parse_header, verifying_bytes,
};
use crate::keys::{Kind, VerifyingKey};
use crate::proving_key::{CommitmentKey, ProvingKey, Query};
use crate::reduction::domain;

/// Bytes read or written at a time: a multiple of every element's size.
const CHUNK: usize = 1 << 20;

fn sizes_bytes(kind: Kind) -> usize {
    if kind == Kind::Mirage { 6 * 8 } else { 5 * 8 }
}

/// beta and delta in G1, and that of the committed wires.
fn single_points(kind: Kind) -> usize {
    if kind == Kind::Mirage { 3 } else { 2 }
}

/// `(start, end)` of pieces of at most `CHUNK` bytes.
pub fn pieces(count: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = CHUNK / size;
    (0..count)
        .step_by(step)
        .map(move |start| (start, (start + step).min(count)))
}

/// Reads and hashes at once.
struct Source {
    file: File,
    hasher: Sha256,
}

impl Source {
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![0; count];
        self.file.read_exact(&mut bytes).map_err(Fault::Io)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn elements<T>(
        &mut self,
        count: usize,
        size: usize,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut elements = Vec::with_capacity(count);
        for (start, end) in pieces(count, size) {
            for bytes in self.bytes((end - start) * size)?.chunks_exact(size) {
                let element =
                    read(bytes).ok_or("a coordinate is not below the prime: it is damaged".to_string());
                elements.push(element?);
            }
        }
        Ok(elements)
    }

    /// Wires from `first` to below `bound`, and a point for each.
    fn query(&mut self, count: usize, first: usize, bound: usize) -> Result<Query<Config>, Fault> {
        Ok(Query {
            wires: self.wires(count, first, bound)?,
            points: self.elements(count, G1_BYTES, g1_raw)?,
        })
    }

    /// Ascending wires from `first` to below `bound`.
    fn wires(&mut self, count: usize, first: usize, bound: usize) -> Result<Vec<u32>, Fault> {
        let wires = self.elements(count, 4, |bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)))?;
        let ascending = wires.windows(2).all(|pair| pair[0] < pair[1]);
        let outside = |wire: &u32| !(first..bound).contains(&(*wire as usize));
        if !ascending || wires.first().is_some_and(outside) || wires.last().is_some_and(outside) {
            return Err(Fault::Content("its wires are not in order: it is damaged".into()));
        }
        Ok(wires)
    }
}

/// Reads a proving key; its length is checked before anything is allocated, its checksum before it is used.
///
/// The prover's points are not checked to lie in their groups: a proving key is trusted for privacy, and a proof
/// from a wrong one is caught by the check that ends proving.
pub fn read_proving(path: &Path, kind: Kind) -> Result<ProvingKey, Fault> {
    let file = File::open(path).map_err(Fault::Io)?;
    let length = file.metadata().map_err(Fault::Io)?.len();
    let mut source = Source {
        file,
        hasher: Sha256::new(),
    };
    let start = header_bytes(kind);
    let head = source.bytes((length as usize).min(start + sizes_bytes(kind)))?;
    let header = parse_header(&head, Half::Proving, kind)?;
    if head.len() < start + sizes_bytes(kind) {
        return Err(Fault::Content(format!("{length} bytes: it is cut short")));
    }
    let mut sizes = head[start..].chunks_exact(8).map(number);
    let mut size = || sizes.next().unwrap_or(Ok(0));
    let (wires, rows, a, b, l, d) = (size()?, size()?, size()?, size()?, size()?, size()?);
    let public = header.public;
    let expected = expected_bytes(kind, public, rows, [a, b, l, d]);
    check_length(length, expected.map(|(bytes, _)| bytes))?;
    let (_, domain) = expected.unwrap_or_default();
    let single = single_points(kind) * G1_BYTES;
    let points = source.bytes(verifying_bytes(kind, public).unwrap_or(0) + single)?;
    let (points, rest) = points.split_at(points.len() - single);
    let verifying = VerifyingKey::from_points(header.setup, header.digest, header.committed, points)?;
    let mut rest = Reader::new(rest);
    let (beta_g1, delta_g1) = (rest.g1("beta in G1")?, rest.g1("delta in G1")?);
    let committed_g1 = match kind {
        Kind::Groth16 => None,
        Kind::Mirage => Some(rest.g1("delta of the committed wires in G1")?),
    };
    // Publics, committed wires and the rest follow each other; committed + public may not even fit a usize.
    let last = (public + 1).checked_add(verifying.committed());
    let last = last.filter(|last| *last <= wires).ok_or_else(|| {
        format!(
            "{public} publics and {} committed wires of {wires}",
            verifying.committed()
        )
    })?;
    let a = source.query(a, 0, wires)?;
    let b_g1 = source.query(b, 0, wires)?;
    let b_g2: Vec<G2Affine> = source.elements(b, G2_BYTES, g2_raw)?;
    let l = source.query(l, last, wires)?;
    let h = source.elements(domain, G1_BYTES, g1_raw)?;
    let d = match committed_g1 {
        None => None,
        Some(delta_g1) => Some(CommitmentKey {
            delta_g1,
            query: source.query(d, public + 1, last)?,
        }),
    };
    let computed = source.hasher.clone().finalize();
    check_sum(&computed, &source.bytes(CHECKSUM)?)?;
    Ok(ProvingKey {
        verifying,
        wires,
        rows,
        beta_g1,
        delta_g1,
        a,
        b_g1,
        b_g2,
        l,
        h,
        d,
    })
}

/// The file's length and the size of its domain; None where they do not fit.
fn expected_bytes(
    kind: Kind,
    public: usize,
    rows: usize,
    [a, b, l, d]: [usize; 4],
) -> Option<(usize, usize)> {
    rows.checked_add(public)?.checked_add(1)?;
    let domain = domain(rows, public).ok()?.size;
    let fixed = header_bytes(kind) + sizes_bytes(kind) + single_points(kind) * G1_BYTES + CHECKSUM;
    let parts = [
        verifying_bytes(kind, public)?.checked_add(fixed)?,
        a.checked_mul(4 + G1_BYTES)?,
        b.checked_mul(4 + G1_BYTES + G2_BYTES)?,
        l.checked_mul(4 + G1_BYTES)?,
        domain.checked_mul(G1_BYTES)?,
        d.checked_mul(4 + G1_BYTES)?,
    ];
    let total = parts.into_iter().try_fold(0usize, usize::checked_add)?;
    Some((total, domain))
}
