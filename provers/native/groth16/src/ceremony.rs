//! Whether a key from a ceremony is the key of a system: every point is compared with the ceremony's powers of tau.
//!
//! The powers come as Lagrange bases over the domain of n points: L_j(tau) in both groups, alpha L_j(tau) and
//! beta L_j(tau), and the basis over 2n points. One random linear combination of all wires replaces a comparison of
//! each: a wrong point passes with probability 1 / r. That the powers themselves come from an honest ceremony is
//! for whoever chose the file.

use ark_bn254::{Bn254, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::pairing::Pairing;
use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, PrimeField, Zero};
use rayon::prelude::*;

use crate::keys::Kind;
use crate::proving_key::ProvingKey;
use crate::system::{Matrix, System, Witness};
use circuitize_curves::affine::Curve;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::msm::msm;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, g1_raw, g2_raw};
use circuitize_curves::signed::{self, Signed};

/// Lagrange bases at the secret point.
pub struct Powers {
    tau_g1: Vec<G1Affine>,
    tau_g2: Vec<G2Affine>,
    alpha: Vec<G1Affine>,
    beta: Vec<G1Affine>,
    /// The odd ones of the basis over twice as many points.
    coset: Vec<G1Affine>,
}

impl Powers {
    /// tau in G1, tau in G2, alpha tau and beta tau over the key's domain, and tau in G1 over twice as many points, as a
    /// prepared .ptau holds them; every point is checked to be in its group.
    pub fn read([tau_g1, tau_g2, alpha, beta, double]: [&[u8]; 5]) -> Result<Self, String> {
        Ok(Self {
            tau_g1: points(tau_g1, G1_BYTES, g1_raw, "tau in G1")?,
            tau_g2: points(tau_g2, G2_BYTES, g2_raw, "tau in G2")?,
            alpha: points(alpha, G1_BYTES, g1_raw, "alpha tau")?,
            beta: points(beta, G1_BYTES, g1_raw, "beta tau")?,
            coset: points(double, G1_BYTES, g1_raw, "tau over 2n points")?
                .into_iter()
                .skip(1)
                .step_by(2)
                .collect(),
        })
    }
}

fn points<P: SWCurveConfig>(
    bytes: &[u8],
    size: usize,
    read: impl Fn(&[u8]) -> Option<Affine<P>> + Sync + Send,
    name: &str,
) -> Result<Vec<Affine<P>>, String> {
    let points = bytes
        .par_chunks_exact(size)
        .map(read)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{name} of the powers of tau: a coordinate is not below the prime"))?;
    check_points(&points, &format!("{name} of the powers of tau"))?;
    Ok(points)
}

fn check_points<P: SWCurveConfig>(points: &[Affine<P>], name: &str) -> Result<(), String> {
    let wrong = |point: &Affine<P>| {
        point.is_zero() || !point.is_on_curve() || !point.is_in_correct_subgroup_assuming_on_curve()
    };
    match points.par_iter().position_first(wrong) {
        Some(place) => Err(format!(
            "{name}: point {place} is not on the curve, or not in the group of order r"
        )),
        None => Ok(()),
    }
}

fn scalars(values: &[Fr]) -> (Vec<u32>, Vec<Signed>) {
    ((0..values.len() as u32).collect(), signed::from_fields(values))
}

/// A witness-like vector of random values: 1 for the constant, 0 from wire `end` on.
fn random(system: &System, end: usize, values: &[Fr]) -> Result<Witness, String> {
    let limbs = (0..system.wires)
        .flat_map(|wire| {
            if wire < end {
                values[wire].into_bigint().0
            } else {
                [0; 4]
            }
        })
        .collect::<Vec<_>>();
    Witness::new(&limbs, system.wires)
}

/// One value for each point of the domain: the rows, then for A the constant and the publics.
fn column(system: &System, matrix: &Matrix, wires: &Witness, publics: bool, size: usize) -> Vec<Fr> {
    let mut column = (0..system.rows())
        .into_par_iter()
        .map(|row| wires.inner_product(system, matrix.row(row)))
        .collect::<Vec<_>>();
    if publics {
        column.extend(&wires.fields[..=system.public]);
    }
    column.resize(size, Fr::ZERO);
    column
}

fn combine<P: Curve>(points: &[Affine<P>], values: &[Fr]) -> Projective<P> {
    let (index, values) = scalars(values);
    msm(points, &index, &values)
}

fn same_ratio(left: G1Projective, delta: G2Affine, right: G1Projective) -> bool {
    let pair = [left.into_affine(), (-right).into_affine()];
    Bn254::multi_pairing(pair, [delta, G2Affine::generator()]).is_zero()
}

fn require(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

/// Why `key` is not a key of `system` made from `powers`; the publics, A, B, C and H are each named.
pub fn check(key: &ProvingKey, system: &System, powers: &Powers) -> Result<(), String> {
    let size = key.h.len();
    let verifying = &key.verifying;
    verifying.require(Kind::Groth16)?;
    let fits = (key.wires, key.rows, verifying.public()) == (system.wires, system.rows(), system.public);
    require(
        fits,
        "it has other numbers of wires, rows or publics than this program",
    )?;
    let (one, two) = (G1Affine::generator(), G2Affine::generator());
    check_points(&key.a.points, "A")?;
    check_points(&key.b_g1.points, "B in G1")?;
    check_points(&key.b_g2, "B in G2")?;
    check_points(&key.l.points, "C")?;
    check_points(&key.h, "H")?;
    let sum = |points: &[G1Affine]| {
        points
            .par_iter()
            .fold(G1Projective::default, |sum, point| sum + point)
            .sum()
    };
    let sums: [G1Projective; 3] = [&powers.tau_g1, &powers.alpha, &powers.beta].map(|points| sum(points));
    require(sums[0] == one, "the powers of tau are not prepared for this size")?;
    require(
        sums[1] == verifying.alpha_g1,
        "alpha is not that of the powers of tau",
    )?;
    require(sums[2] == key.beta_g1, "beta is not that of the powers of tau")?;
    require(
        same_ratio(one.into(), verifying.beta_g2, key.beta_g1.into()),
        "beta differs between G1 and G2",
    )?;
    require(
        same_ratio(one.into(), verifying.delta_g2, key.delta_g1.into()),
        "delta differs between G1 and G2",
    )?;
    require(verifying.gamma_g2 == two, "gamma is not the generator")?;
    require(
        verifying.delta_g2 != two,
        "delta is the generator: nobody has contributed to this key yet",
    )?;

    let mut entropy = Entropy::System;
    let mut values = (0..system.wires.max(size))
        .map(|_| entropy.scalar())
        .collect::<Result<Vec<_>, _>>()?;
    values[0] = Fr::from(1u64);
    let all = random(system, system.wires, &values)?;
    let public = random(system, system.public + 1, &values)?;
    let [a, b, c] = [(&system.a, true), (&system.b, false), (&system.c, false)]
        .map(|(matrix, publics)| column(system, matrix, &all, publics, size));
    let wires = &all.integers;
    let other = |name| format!("its points for {name} are not those of this program");
    require(
        msm(&key.a.points, &key.a.wires, wires) == combine(&powers.tau_g1, &a),
        &other("A"),
    )?;
    require(
        msm(&key.b_g1.points, &key.b_g1.wires, wires) == combine(&powers.tau_g1, &b),
        &other("B in G1"),
    )?;
    let b_g2: G2Projective = msm(&key.b_g2, &key.b_g1.wires, wires);
    require(b_g2 == combine(&powers.tau_g2, &b), &other("B in G2"))?;
    let combined = |a: &[Fr], b: &[Fr], c: &[Fr]| -> G1Projective {
        combine(&powers.beta, a) + combine(&powers.alpha, b) + combine(&powers.tau_g1, c)
    };
    let [a_public, b_public, c_public] = [(&system.a, true), (&system.b, false), (&system.c, false)]
        .map(|(matrix, publics)| column(system, matrix, &public, publics, size));
    let publics = combined(&a_public, &b_public, &c_public);
    require(
        combine(&verifying.inputs, &values[..=system.public]) == publics,
        &other("the publics"),
    )?;
    let l = msm(&key.l.points, &key.l.wires, wires);
    require(
        same_ratio(l, verifying.delta_g2, combined(&a, &b, &c) - publics),
        &other("C"),
    )?;
    let (h, coset) = (
        combine(&key.h, &values[..size]),
        combine(&powers.coset, &values[..size]),
    );
    require(
        same_ratio(h, verifying.delta_g2, coset),
        "its points for H are not those of the powers of tau",
    )
}
