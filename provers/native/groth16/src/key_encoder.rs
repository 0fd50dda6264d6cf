//! A proving key as the bytes of its file; `key_file` says what stands where.

use ark_bn254::G1Affine;
use sha2::{Digest, Sha256};

use crate::key_file::{Half, header};
use crate::proving_key::ProvingKey;
use crate::proving_key_file::pieces;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, put_g1, put_g1_raw, put_g2_raw};

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
    D,
}

impl Section {
    fn query(self, key: &ProvingKey) -> (&[u32], &[G1Affine]) {
        match self {
            Self::A => (&key.a.wires, &key.a.points),
            Self::B => (&key.b_g1.wires, &key.b_g1.points),
            Self::L => (&key.l.wires, &key.l.points),
            Self::H => (&[], &key.h),
            Self::D => match &key.d {
                None => (&[], &[]),
                Some(d) => (&d.query.wires, &d.query.points),
            },
        }
    }
}

impl Encoder {
    pub fn new(key: &ProvingKey) -> Self {
        let mut parts = vec![Part::Head];
        for section in [Section::A, Section::B, Section::L, Section::H, Section::D] {
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
                bytes = header(Half::Proving, &key.verifying);
                let mut sizes = vec![
                    key.wires,
                    key.rows,
                    key.a.wires.len(),
                    key.b_g1.wires.len(),
                    key.l.wires.len(),
                ];
                sizes.extend(key.d.as_ref().map(|d| d.query.wires.len()));
                bytes.extend(sizes.iter().flat_map(|size| (*size as u64).to_le_bytes()));
                bytes.extend(key.verifying.points());
                put_g1(&mut bytes, &key.beta_g1);
                put_g1(&mut bytes, &key.delta_g1);
                if let Some(d) = &key.d {
                    put_g1(&mut bytes, &d.delta_g1);
                }
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
