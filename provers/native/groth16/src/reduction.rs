//! From constraints to polynomials: circom's reduction, whose keys snarkjs also uses.
//!
//! Row i stands for the point w^i of a domain of n points; behind the system's rows come rows that put each public
//! wire (and the constant) into A, so that publics stay bound even where no constraint reads them. The prover needs
//! A B - C only at the odd powers of a root of order 2n, the coset: it vanishes at the even ones, so those n values
//! are its Lagrange coordinates of degree below 2n, and no division by the vanishing polynomial is left to do.

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, Field};
use rayon::prelude::*;

use crate::system::{Matrix, System, Witness};
use circuitize_curves::lazy::{Lazy, Relax};
use circuitize_curves::ntt::{Domain, powers};

/// Why no polynomials come out.
pub enum Refusal {
    /// The first row that the witness does not satisfy.
    Unsatisfied(usize),
    Malformed(String),
}

/// The domain of a system: rows, and one more for the constant and for each public wire.
pub fn domain(rows: usize, public: usize) -> Result<Domain<Fr>, String> {
    let needed = rows + public + 1;
    Domain::new(needed).ok_or_else(|| format!("{needed} rows: the field's domains end at 2^27"))
}

/// The values of A B - C on the coset, after checking every row of the system.
pub fn numerator(system: &System, witness: &Witness) -> Result<Vec<Fr>, Refusal> {
    let domain = domain(system.rows(), system.public).map_err(Refusal::Malformed)?;
    let rows = system.rows();
    let [mut a, mut b, mut c] = [(); 3].map(|()| vec![Fr::ZERO.relax(); domain.size]);
    let failing = (&mut a[..rows], &mut b[..rows], &mut c[..rows])
        .into_par_iter()
        .enumerate()
        .with_min_len(256)
        .filter_map(|(row, (a, b, c))| {
            let [left, right, product] = [&system.a, &system.b, &system.c]
                .map(|matrix| witness.inner_product(system, matrix.row(row)));
            (*a, *b, *c) = (left.relax(), right.relax(), product.relax());
            (left * right != product).then_some(row)
        })
        .min();
    if let Some(row) = failing {
        return Err(Refusal::Unsatisfied(row));
    }
    for (place, value) in a[rows..].iter_mut().zip(&witness.fields[..=system.public]) {
        *place = value.relax();
    }
    domain.subgroup_to_coset([&mut a, &mut b, &mut c]);
    let values = (a, b, c).into_par_iter().with_min_len(1024);
    Ok(values.map(|(a, b, c)| Fr::reduce(a.mul(b).sub(c))).collect())
}

/// The polynomials of every wire, and the coset's Lagrange coordinates, at one secret point.
pub struct Evaluations {
    pub a: Vec<Fr>,
    pub b: Vec<Fr>,
    pub c: Vec<Fr>,
    pub h: Vec<Fr>,
}

/// Evaluates at `tau`; None where tau lies in the domain or the coset.
pub fn evaluate(system: &System, tau: Fr) -> Result<Option<Evaluations>, String> {
    let domain = domain(system.rows(), system.public)?;
    let size = domain.size as u64;
    let Some(mut basis) = lagrange(tau, Fr::ONE, domain.root, size, tau.pow([size]) - Fr::ONE) else {
        return Ok(None);
    };
    // Over the 2n points of both: (tau^2n - 1) / 2n * x / (tau - x) at x an odd power.
    let both = (tau.pow([2 * size]) - Fr::ONE) * Fr::from(2u64).inverse().unwrap_or_default();
    let Some(h) = lagrange(tau, domain.offset, domain.root, size, both) else {
        return Ok(None);
    };
    let columns = [&system.a, &system.b, &system.c].map(|matrix| (matrix, vec![Fr::ZERO; system.wires]));
    let mut columns = columns
        .into_par_iter()
        .map(|(matrix, mut sums)| {
            accumulate(system, matrix, &basis, &mut sums);
            sums
        })
        .collect::<Vec<_>>()
        .into_iter();
    let [mut a, b, c] = [(); 3].map(|()| columns.next().unwrap_or_default());
    for (sum, value) in a[..=system.public].iter_mut().zip(&basis[system.rows()..]) {
        *sum += value;
    }
    zeroize::Zeroize::zeroize(&mut basis);
    Ok(Some(Evaluations { a, b, c, h }))
}

/// `vanishing / size * x / (tau - x)` at x = offset * root^i, i < size; None where tau is such an x.
fn lagrange(tau: Fr, offset: Fr, root: Fr, size: u64, vanishing: Fr) -> Option<Vec<Fr>> {
    let points = powers(root, size as usize)
        .into_par_iter()
        .map(|power| power * offset)
        .collect::<Vec<_>>();
    let mut inverses = points.par_iter().map(|point| tau - point).collect::<Vec<_>>();
    if inverses.par_iter().any(|difference| *difference == Fr::ZERO) {
        return None;
    }
    ark_ff::batch_inversion_and_mul(&mut inverses, &(vanishing * Fr::from(size).inverse()?));
    inverses
        .par_iter_mut()
        .zip(&points)
        .for_each(|(inverse, point)| *inverse *= point);
    Some(inverses)
}

fn accumulate(system: &System, matrix: &Matrix, basis: &[Fr], sums: &mut [Fr]) {
    for (row, value) in (0..matrix.rows()).zip(basis) {
        for (wire, code) in matrix.row(row) {
            let sum = &mut sums[wire as usize];
            match code {
                1 => *sum += value,
                -1 => *sum -= value,
                _ => *sum += system.coefficient(code) * value,
            }
        }
    }
}
