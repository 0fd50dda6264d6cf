//! Key files: a header that names circuit and setup, points, and a SHA-256 checksum of everything before it.
//!
//! All integers are little-endian. Both files begin with magic (16 bytes), version (u32), setup (u32: 1 development,
//! 2 ceremony), digest (32 bytes) and the number of publics (u64). A verifying key follows with alpha, beta, gamma,
//! delta and one point for the constant and each public. A proving key follows with wires, rows, and the sizes of A,
//! B and L (u64 each), the verifying points, beta and delta in G1, then for A, B and L the wires (u32 each) and
//! their points, B in both groups, and the points of H. The prover's own points are in Montgomery form.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ark_bn254::{G1Affine, G2Affine};
use sha2::{Digest, Sha256};

use super::keys::{ProvingKey, Query, Setup, VerifyingKey, points_bytes};
use super::points::{G1_BYTES, G2_BYTES, Reader, g1_raw, g2_raw, put_g1, put_g1_raw, put_g2_raw};
use super::reduction::domain;

const PROVING: &[u8; 16] = b"circuitize-g16pk";
const VERIFYING: &[u8; 16] = b"circuitize-g16vk";
const VERSION: u32 = 1;
const HEADER: usize = 16 + 4 + 4 + 32 + 8;
const SIZES: usize = 5 * 8;
const CHECKSUM: usize = 32;
/// Bytes read or written at a time: a multiple of every element's size.
const CHUNK: usize = 1 << 20;

/// What is wrong with a file, or with reading it.
pub enum Fault {
    Io(std::io::Error),
    Content(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Content(message)
    }
}

fn header(magic: &[u8; 16], key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((key.setup as u32).to_le_bytes());
    bytes.extend(key.digest);
    bytes.extend((key.public() as u64).to_le_bytes());
    bytes
}

fn verifying_bytes(public: usize) -> Option<usize> {
    points_bytes(public.checked_add(1)?)
}

struct Header {
    setup: Setup,
    digest: [u8; 32],
    public: usize,
}

fn number(bytes: &[u8]) -> Result<usize, String> {
    let number = u64::from_le_bytes(bytes.try_into().map_err(|_| "a number is cut short")?);
    usize::try_from(number).map_err(|_| format!("{number} is too large for this machine"))
}

fn parse_header(bytes: &[u8], magic: &[u8; 16], what: &str) -> Result<Header, String> {
    if bytes.len() < HEADER || &bytes[..16] != magic {
        return Err(format!(
            "not a {what}: it does not begin with {:?}",
            String::from_utf8_lossy(magic)
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
    })
}

/// A verifying key as the bytes of its file.
pub fn encode_verifying(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = header(VERIFYING, key);
    bytes.extend(key.points());
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// A verifying key from the bytes of its file; every point is checked to be in its group.
pub fn decode_verifying(bytes: &[u8]) -> Result<VerifyingKey, String> {
    let header = parse_header(bytes, VERIFYING, "verifying key")?;
    let expected = verifying_bytes(header.public).and_then(|size| size.checked_add(HEADER + CHECKSUM));
    check_length(bytes.len() as u64, expected)?;
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    check_sum(&Sha256::digest(content), checksum)?;
    VerifyingKey::from_points(header.setup, header.digest, &content[HEADER..])
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

/// A proving key's file, a part at a time.
pub struct Encoder {
    hasher: Sha256,
    parts: std::vec::IntoIter<Part>,
}

enum Part {
    Head,
    Wires(Section),
    G1(Section, usize, usize),
    G2(usize, usize),
    Checksum,
}

#[derive(Clone, Copy)]
enum Section {
    A,
    B,
    L,
    H,
}

impl Section {
    fn query(self, key: &ProvingKey) -> (&[u32], &[G1Affine]) {
        match self {
            Self::A => (&key.a.wires, &key.a.points),
            Self::B => (&key.b_g1.wires, &key.b_g1.points),
            Self::L => (&key.l.wires, &key.l.points),
            Self::H => (&[], &key.h),
        }
    }
}

/// `(start, end)` of pieces of at most `CHUNK` bytes.
fn pieces(count: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = CHUNK / size;
    (0..count)
        .step_by(step)
        .map(move |start| (start, (start + step).min(count)))
}

impl Encoder {
    pub fn new(key: &ProvingKey) -> Self {
        let mut parts = vec![Part::Head];
        for section in [Section::A, Section::B, Section::L, Section::H] {
            let (wires, points) = section.query(key);
            if !wires.is_empty() {
                parts.push(Part::Wires(section));
            }
            parts.extend(pieces(points.len(), G1_BYTES).map(|(start, end)| Part::G1(section, start, end)));
            if let Section::B = section {
                parts.extend(pieces(key.b_g2.len(), G2_BYTES).map(|(start, end)| Part::G2(start, end)));
            }
        }
        parts.push(Part::Checksum);
        Self {
            hasher: Sha256::new(),
            parts: parts.into_iter(),
        }
    }

    /// The next bytes of the file of `key`; None at its end.
    pub fn next(&mut self, key: &ProvingKey) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.parts.next()? {
            Part::Head => {
                bytes = header(PROVING, &key.verifying);
                let sizes = [
                    key.wires,
                    key.rows,
                    key.a.wires.len(),
                    key.b_g1.wires.len(),
                    key.l.wires.len(),
                ];
                bytes.extend(sizes.iter().flat_map(|size| (*size as u64).to_le_bytes()));
                bytes.extend(key.verifying.points());
                put_g1(&mut bytes, &key.beta_g1);
                put_g1(&mut bytes, &key.delta_g1);
            }
            Part::Wires(section) => {
                bytes.extend(section.query(key).0.iter().flat_map(|wire| wire.to_le_bytes()))
            }
            Part::G1(section, start, end) => {
                section.query(key).1[start..end]
                    .iter()
                    .for_each(|point| put_g1_raw(&mut bytes, point));
            }
            Part::G2(start, end) => key.b_g2[start..end]
                .iter()
                .for_each(|point| put_g2_raw(&mut bytes, point)),
            Part::Checksum => bytes.extend(self.hasher.finalize_reset()),
        }
        self.hasher.update(&bytes);
        Some(bytes)
    }
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

    /// Ascending wires below `bound`.
    fn wires(&mut self, count: usize, bound: usize) -> Result<Vec<u32>, Fault> {
        let wires = self.elements(count, 4, |bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)))?;
        let ascending = wires.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || wires.last().is_some_and(|last| *last as usize >= bound) {
            return Err(Fault::Content("its wires are not in order: it is damaged".into()));
        }
        Ok(wires)
    }
}

/// Reads a proving key; its length is checked before anything is allocated, its checksum before it is used.
///
/// The prover's points are not checked to lie in their groups: a proving key is trusted for privacy, and a proof
/// from a wrong one is caught by the check that ends proving.
pub fn read_proving(path: &Path) -> Result<ProvingKey, Fault> {
    let file = File::open(path).map_err(Fault::Io)?;
    let length = file.metadata().map_err(Fault::Io)?.len();
    let mut source = Source {
        file,
        hasher: Sha256::new(),
    };
    let head = source.bytes((length as usize).min(HEADER + SIZES))?;
    let header = parse_header(&head, PROVING, "proving key")?;
    if head.len() < HEADER + SIZES {
        return Err(Fault::Content(format!("{length} bytes: it is cut short")));
    }
    let mut sizes = head[HEADER..].chunks_exact(8).map(number);
    let mut size = || sizes.next().unwrap_or(Ok(0));
    let (wires, rows, a, b, l) = (size()?, size()?, size()?, size()?, size()?);
    let public = header.public;
    let expected = expected_bytes(public, rows, [a, b, l]);
    check_length(length, expected.map(|(bytes, _)| bytes))?;
    let (_, domain) = expected.unwrap_or_default();
    let points = source.bytes(verifying_bytes(public).unwrap_or(0) + 2 * G1_BYTES)?;
    let (points, rest) = points.split_at(points.len() - 2 * G1_BYTES);
    let verifying = VerifyingKey::from_points(header.setup, header.digest, points)?;
    let mut rest = Reader::new(rest);
    let (beta_g1, delta_g1) = (rest.g1("beta in G1")?, rest.g1("delta in G1")?);
    let a = Query {
        wires: source.wires(a, wires)?,
        points: source.elements(a, G1_BYTES, g1_raw)?,
    };
    let b_g1 = Query {
        wires: source.wires(b, wires)?,
        points: source.elements(b, G1_BYTES, g1_raw)?,
    };
    let b_g2: Vec<G2Affine> = source.elements(b, G2_BYTES, g2_raw)?;
    let l = Query {
        wires: source.wires(l, wires)?,
        points: source.elements(l, G1_BYTES, g1_raw)?,
    };
    let h = source.elements(domain, G1_BYTES, g1_raw)?;
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
    })
}

/// The file's length and the size of its domain; None where they do not fit.
fn expected_bytes(public: usize, rows: usize, [a, b, l]: [usize; 3]) -> Option<(usize, usize)> {
    rows.checked_add(public)?.checked_add(1)?;
    let domain = domain(rows, public).ok()?.size;
    let parts = [
        verifying_bytes(public)?.checked_add(HEADER + SIZES + 2 * G1_BYTES + CHECKSUM)?,
        a.checked_mul(4 + G1_BYTES)?,
        b.checked_mul(4 + G1_BYTES + G2_BYTES)?,
        l.checked_mul(4 + G1_BYTES)?,
        domain.checked_mul(G1_BYTES)?,
    ];
    let total = parts.into_iter().try_fold(0usize, usize::checked_add)?;
    Some((total, domain))
}
