//! A rank-1 constraint system borrowed from Python's arrays, and a witness for it.

use ark_bn254::Fr;
use ark_ff::AdditiveGroup;
use rayon::prelude::*;

use circuitize_curves::elements::field_elements;
use circuitize_curves::signed::{self, Signed};

/// Coefficients from here on are indices into the table of large ones.
pub const LARGE: i64 = 1 << 62;

/// Entries that one thread looks at at least: fewer are not worth a second thread.
const FEW: usize = 1 << 10;

/// One of A, B, C in compressed sparse rows: row i holds entries `offsets[i] .. offsets[i + 1]`.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    pub offsets: &'a [i64],
    pub wires: &'a [u32],
    pub coefficients: &'a [i64],
}

/// Rows (A w) * (B w) = C w over wires w: the constant 1, then the public ones, then the private ones.
pub struct System<'a> {
    pub a: Matrix<'a>,
    pub b: Matrix<'a>,
    pub c: Matrix<'a>,
    pub large: Vec<Fr>,
    pub wires: usize,
    /// Public outputs and inputs, the constant not counted.
    pub public: usize,
    /// The private wires that are committed to before the last public wire, the challenge, is drawn; 0 without one.
    pub committed: usize,
}

impl<'a> Matrix<'a> {
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, i64)> + use<'a> {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.wires[range.clone()]
            .iter()
            .copied()
            .zip(self.coefficients[range].iter().copied())
    }

    fn validate(&self, name: char, wires: usize, large: usize) -> Result<(), String> {
        let (Some(&first), Some(&last)) = (self.offsets.first(), self.offsets.last()) else {
            return Err(format!(
                "matrix {name}: offsets must hold rows + 1 entries, found none"
            ));
        };
        if first != 0 || last != self.wires.len() as i64 || self.wires.len() != self.coefficients.len() {
            return Err(format!(
                "matrix {name}: offsets run from {first} to {last} over {} wires and {} coefficients; expected \
                 0 and equal counts",
                self.wires.len(),
                self.coefficients.len()
            ));
        }
        if self
            .offsets
            .par_windows(2)
            .with_min_len(FEW)
            .any(|pair| pair[0] > pair[1])
        {
            return Err(format!("matrix {name}: offsets decrease"));
        }
        if let Some(wire) = self
            .wires
            .par_iter()
            .with_min_len(FEW)
            .find_any(|&&wire| wire as usize >= wires)
        {
            return Err(format!(
                "matrix {name}: wire {wire} of a system with {wires} wires"
            ));
        }
        let bad = |&&value: &&i64| value <= -LARGE || (value >= LARGE && (value - LARGE) as usize >= large);
        match self.coefficients.par_iter().with_min_len(FEW).find_any(bad) {
            Some(value) => Err(format!(
                "matrix {name}: coefficient code {value} with {large} large coefficients"
            )),
            None => Ok(()),
        }
    }
}

impl<'a> System<'a> {
    pub fn new(
        [a, b, c]: [Matrix<'a>; 3],
        large: &[u64],
        wires: usize,
        public: usize,
    ) -> Result<Self, String> {
        let large = field_elements(large, "large coefficient")?;
        for (name, matrix) in [('A', &a), ('B', &b), ('C', &c)] {
            matrix.validate(name, wires, large.len())?;
        }
        if a.rows() != b.rows() || a.rows() != c.rows() {
            return Err(format!(
                "matrices A, B, C have {}, {} and {} rows; expected equal numbers",
                a.rows(),
                b.rows(),
                c.rows()
            ));
        }
        if public >= wires || wires > 1 << 31 {
            return Err(format!(
                "{public} public wires of {wires}: expected fewer, beside the constant, and at most 2^31 wires"
            ));
        }
        Ok(Self {
            a,
            b,
            c,
            large,
            wires,
            public,
            committed: 0,
        })
    }

    /// The same rows, with the first `committed` private wires fixed before the last public wire is drawn.
    pub fn committing(self, committed: usize) -> Result<Self, String> {
        if committed == 0 || self.public == 0 || committed > self.wires - self.public - 1 {
            return Err(format!(
                "{committed} committed wires of {} private ones, {} publics: expected at least one committed wire, and a \
                 last public wire for the challenge",
                self.wires - self.public - 1,
                self.public
            ));
        }
        Ok(Self { committed, ..self })
    }

    pub fn rows(&self) -> usize {
        self.a.rows()
    }

    pub fn coefficient(&self, code: i64) -> Fr {
        if code >= LARGE {
            self.large[(code - LARGE) as usize]
        } else {
            Fr::from(code)
        }
    }
}

/// The values of all wires, both as field elements and as signed integers of least magnitude.
pub struct Witness {
    pub fields: Vec<Fr>,
    pub integers: Vec<Signed>,
    small: Vec<Option<i64>>,
}

impl Witness {
    pub fn new(limbs: &[u64], wires: usize) -> Result<Self, String> {
        if limbs.len() != 4 * wires {
            return Err(format!(
                "witness of {} limbs; expected 4 for each of {wires} wires",
                limbs.len()
            ));
        }
        let fields = field_elements(limbs, "witness value")?;
        if fields[0] != Fr::from(1u64) {
            return Err("witness: wire 0 must hold the constant 1".into());
        }
        let integers = limbs
            .par_chunks_exact(4)
            .with_min_len(FEW)
            .map(|limbs| signed::from_normal::<Fr>(&[limbs[0], limbs[1], limbs[2], limbs[3]]))
            .collect::<Vec<_>>();
        let small = integers.par_iter().with_min_len(FEW).map(signed::small).collect();
        Ok(Self {
            fields,
            integers,
            small,
        })
    }

    /// The value of a wire, if it is a small integer.
    pub fn small(&self, wire: u32) -> Option<i64> {
        self.small[wire as usize]
    }

    /// The inner product of one row with the witness.
    ///
    /// Small values are summed as 128-bit integers, so that most rows need one field conversion in all.
    pub fn inner_product(&self, system: &System, row: impl Iterator<Item = (u32, i64)>) -> Fr {
        let mut sum = 0i128;
        let mut spilled = Fr::ZERO;
        for (wire, code) in row {
            match self.small[wire as usize] {
                Some(value) if code < LARGE => {
                    let product = i128::from(value) * i128::from(code);
                    match sum.checked_add(product) {
                        Some(total) => sum = total,
                        None => {
                            spilled += Fr::from(sum);
                            sum = product;
                        }
                    }
                }
                _ if code == 1 => spilled += self.fields[wire as usize],
                _ => spilled += self.fields[wire as usize] * system.coefficient(code),
            }
        }
        match sum {
            0 => spilled,
            _ => spilled + Fr::from(sum),
        }
    }
}
