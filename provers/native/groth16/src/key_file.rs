//! Key files: a header that names circuit and setup, points, and a SHA-256 checksum of everything before it.
//!
//! All integers are little-endian. Both files begin with magic (16 bytes), version (u32), setup (u32: 1 development,
//! 2 ceremony), digest (32 bytes) and the number of publics (u64). A verifying key follows with alpha, beta, gamma,
//! delta and one point for the constant and each public. A proving key follows with wires, rows, and the sizes of A,
//! B and L (u64 each), the verifying points, beta and delta in G1, then for A, B and L the wires (u32 each) and
//! their points, B in both groups, and the points of H. The prover's own points are in Montgomery form.
//!
//! A key with a commitment has another magic, and besides: behind the publics the number of committed wires (u64); behind
//! delta that of the committed wires, in both groups; the size of D behind that of L, and D's wires and points at the end.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ark_bn254::{G2Affine, g1::Config};
use sha2::{Digest, Sha256};

use crate::keys::{CommitmentKey, Kind, ProvingKey, Query, VerifyingKey, other_kind, points_bytes};
use crate::reduction::domain;
use circuitize_curves::keys::{Fault, Setup};
use circuitize_curves::points::{G1_BYTES, G2_BYTES, Reader, g1_raw, g2_raw};

const VERSION: u32 = 1;
const CHECKSUM: usize = 32;
/// Bytes read or written at a time: a multiple of every element's size.
const CHUNK: usize = 1 << 20;

/// One of the two files of a key.
#[derive(Clone, Copy)]
pub enum Half {
    Proving,
    Verifying,
}

impl Half {
    fn name(self) -> &'static str {
        match self {
            Self::Proving => "proving key",
            Self::Verifying => "verifying key",
        }
    }

    fn magic(self, kind: Kind) -> &'static [u8; 16] {
        match (kind, self) {
            (Kind::Groth16, Self::Proving) => b"circuitize-g16pk",
            (Kind::Groth16, Self::Verifying) => b"circuitize-g16vk",
            (Kind::Mirage, Self::Proving) => b"circuitize-mirpk",
            (Kind::Mirage, Self::Verifying) => b"circuitize-mirvk",
        }
    }
}

/// Magic, version, setup, digest, and one or two counts.
fn header_bytes(kind: Kind) -> usize {
    16 + 4 + 4 + 32 + if kind == Kind::Mirage { 16 } else { 8 }
}

fn sizes_bytes(kind: Kind) -> usize {
    if kind == Kind::Mirage { 6 * 8 } else { 5 * 8 }
}

/// beta and delta in G1, and that of the committed wires.
fn single_points(kind: Kind) -> usize {
    if kind == Kind::Mirage { 3 } else { 2 }
}

pub fn header(half: Half, key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = half.magic(key.kind()).to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((key.setup as u32).to_le_bytes());
    bytes.extend(key.digest);
    bytes.extend((key.public() as u64).to_le_bytes());
    if key.kind() == Kind::Mirage {
        bytes.extend((key.committed() as u64).to_le_bytes());
    }
    bytes
}

fn verifying_bytes(kind: Kind, public: usize) -> Option<usize> {
    points_bytes(kind, public.checked_add(1)?)
}

struct Header {
    setup: Setup,
    digest: [u8; 32],
    public: usize,
    committed: Option<usize>,
}

fn number(bytes: &[u8]) -> Result<usize, String> {
    let number = u64::from_le_bytes(bytes.try_into().map_err(|_| "a number is cut short")?);
    usize::try_from(number).map_err(|_| format!("{number} is too large for this machine"))
}

fn parse_header(bytes: &[u8], half: Half, kind: Kind) -> Result<Header, String> {
    let what = half.name();
    let other = match kind {
        Kind::Groth16 => Kind::Mirage,
        Kind::Mirage => Kind::Groth16,
    };
    if bytes.starts_with(half.magic(other)) {
        return Err(other_kind(other, kind));
    }
    if bytes.len() < header_bytes(kind) || !bytes.starts_with(half.magic(kind)) {
        return Err(format!(
            "not a {what}: it does not begin with {:?}",
            String::from_utf8_lossy(half.magic(kind))
        ));
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if word(16) != VERSION {
        return Err(format!(
            "{what} of version {}; this program reads version {VERSION}",
            word(16)
        ));
    }
    let setup =
        Setup::from_code(word(20)).ok_or_else(|| format!("{what} with unknown setup {}", word(20)))?;
    let digest = bytes[24..56].try_into().map_err(|_| "the digest is cut short")?;
    Ok(Header {
        setup,
        digest,
        public: number(&bytes[56..64])?,
        committed: match kind {
            Kind::Groth16 => None,
            Kind::Mirage => Some(number(&bytes[64..72])?),
        },
    })
}

/// A verifying key as the bytes of its file.
pub fn encode_verifying(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = header(Half::Verifying, key);
    bytes.extend(key.points());
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// The SHA-256 of a verifying key's file without its last 32 bytes, which are this.
pub fn checksum(key: &VerifyingKey) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(header(Half::Verifying, key));
    hasher.update(key.points());
    hasher.finalize().into()
}

/// A verifying key from the bytes of its file; every point is checked to be in its group.
pub fn decode_verifying(bytes: &[u8], kind: Kind) -> Result<VerifyingKey, String> {
    let header = parse_header(bytes, Half::Verifying, kind)?;
    let start = header_bytes(kind);
    let expected = verifying_bytes(kind, header.public).and_then(|size| size.checked_add(start + CHECKSUM));
    check_length(bytes.len() as u64, expected)?;
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    check_sum(&Sha256::digest(content), checksum)?;
    VerifyingKey::from_points(header.setup, header.digest, header.committed, &content[start..])
}

fn check_length(found: u64, expected: Option<usize>) -> Result<(), String> {
    match expected {
        Some(expected) if expected as u64 == found => Ok(()),
        Some(expected) => Err(format!("{found} bytes, but its header calls for {expected}")),
        None => Err(format!(
            "{found} bytes, but its header calls for more than this machine can hold"
        )),
    }
}

fn check_sum(computed: &[u8], found: &[u8]) -> Result<(), String> {
    if computed == found {
        Ok(())
    } else {
        Err("its checksum does not match: it is damaged".into())
    }
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
