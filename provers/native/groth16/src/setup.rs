//! Development keys: the secrets are drawn here, used, and wiped. Whoever could read them could forge proofs.

use ark_bn254::{Fr, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{AdditiveGroup, Field};
use rayon::prelude::*;
use zeroize::Zeroize;

use crate::keys::{Committed, VerifyingKey};
use crate::proving_key::{CommitmentKey, ProvingKey, Query};
use crate::reduction::{Evaluations, evaluate};
use crate::system::System;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::fixed_base::FixedBase;
use circuitize_curves::keys::Setup;

/// The secrets and what is computed from them, wiped when dropped.
struct Secrets {
    alpha: Fr,
    beta: Fr,
    gamma: Fr,
    delta: Fr,
    /// The delta of the committed wires; zero without any.
    committed: Fr,
    tau: Fr,
    evaluations: Evaluations,
    combined: Vec<Fr>,
}

impl Drop for Secrets {
    fn drop(&mut self) {
        let Evaluations { a, b, c, h } = &mut self.evaluations;
        for values in [a, b, c, h, &mut self.combined] {
            values.zeroize();
        }
        for value in [
            &mut self.alpha,
            &mut self.beta,
            &mut self.gamma,
            &mut self.delta,
            &mut self.committed,
            &mut self.tau,
        ] {
            value.zeroize();
        }
    }
}

impl Secrets {
    fn draw(system: &System, entropy: &mut Entropy) -> Result<Self, String> {
        let (tau, mut evaluations) = loop {
            let tau = entropy.scalar()?;
            if let Some(evaluations) = evaluate(system, tau)? {
                break (tau, evaluations);
            }
        };
        let [alpha, beta, gamma, delta] = [
            entropy.scalar()?,
            entropy.scalar()?,
            entropy.scalar()?,
            entropy.scalar()?,
        ];
        let committed = if system.committed > 0 {
            entropy.scalar()?
        } else {
            Fr::ZERO
        };
        let inverse = |value: Fr| value.inverse().ok_or("a secret is zero");
        let (over_gamma, over_delta) = (inverse(gamma)?, inverse(delta)?);
        let over_committed = committed.inverse().unwrap_or(over_delta);
        let last = system.public + system.committed;
        let Evaluations { a, b, c, h } = &mut evaluations;
        let combined = (&*a, &*b, &*c)
            .into_par_iter()
            .enumerate()
            .map(|(wire, (a, b, c))| {
                let over = match wire {
                    wire if wire <= system.public => over_gamma,
                    wire if wire <= last => over_committed,
                    _ => over_delta,
                };
                (beta * a + alpha * b + c) * over
            })
            .collect();
        h.par_iter_mut().for_each(|value| *value *= over_delta);
        Ok(Self {
            alpha,
            beta,
            gamma,
            delta,
            committed,
            tau,
            evaluations,
            combined,
        })
    }
}

/// Draws secrets and computes both keys; about twelve thousand field multiplications a wire.
pub fn setup(
    system: &System,
    digest: [u8; 32],
    entropy: &mut Entropy,
    report: &(dyn Fn(&'static str) -> Result<(), String> + Sync),
) -> Result<ProvingKey, String> {
    report("polynomials")?;
    let secrets = Secrets::draw(system, entropy)?;
    let g1 = FixedBase::new(
        G1Affine::generator(),
        3 * system.wires + secrets.evaluations.h.len(),
    );
    let g2 = FixedBase::new(G2Affine::generator(), system.wires);
    let single = [secrets.alpha, secrets.beta, secrets.delta];
    let [alpha_g1, beta_g1, delta_g1] = points(g1.multiples(&single))?;
    let single = [secrets.beta, secrets.gamma, secrets.delta];
    let [beta_g2, gamma_g2, delta_g2] = points(g2.multiples(&single))?;
    let (publics, privates) = secrets.combined.split_at(system.public + 1);
    let inputs = g1.multiples(publics);
    report("points of A")?;
    let (wires, scalars) = present(&secrets.evaluations.a, 0);
    let a = Query {
        wires,
        points: g1.multiples(&scalars),
    };
    report("points of B")?;
    let (wires, scalars) = present(&secrets.evaluations.b, 0);
    let b_g1 = Query {
        wires,
        points: g1.multiples(&scalars),
    };
    let b_g2 = g2.multiples(&scalars);
    report("points of C")?;
    let (committed, rest) = privates.split_at(system.committed);
    let first = system.public as u32 + 1;
    let (wires, scalars) = present(rest, first + system.committed as u32);
    let l = Query {
        wires,
        points: g1.multiples(&scalars),
    };
    let (commitment, d) = if system.committed > 0 {
        let delta = [secrets.committed];
        let ([delta_g1], [delta_g2]) = (points(g1.multiples(&delta))?, points(g2.multiples(&delta))?);
        let (index, scalars) = present(committed, first);
        let query = Query {
            wires: index,
            points: g1.multiples(&scalars),
        };
        let wires = system.committed;
        (
            Some(Committed { wires, delta_g2 }),
            Some(CommitmentKey { delta_g1, query }),
        )
    } else {
        (None, None)
    };
    report("points of H")?;
    let h = g1.multiples(&secrets.evaluations.h);
    let verifying = VerifyingKey {
        setup: Setup::Development,
        digest,
        alpha_g1,
        beta_g2,
        gamma_g2,
        delta_g2,
        committed: commitment,
        inputs,
    };
    Ok(ProvingKey {
        verifying,
        wires: system.wires,
        rows: system.rows(),
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

/// The nonzero values, each with its wire.
fn present(values: &[Fr], first: u32) -> (Vec<u32>, zeroize::Zeroizing<Vec<Fr>>) {
    let wires = (first..).zip(values).filter(|(_, value)| **value != Fr::ZERO);
    let (wires, scalars) = wires.unzip::<_, _, Vec<_>, Vec<_>>();
    (wires, zeroize::Zeroizing::new(scalars))
}

fn points<T, const N: usize>(points: Vec<T>) -> Result<[T; N], String> {
    points
        .try_into()
        .map_err(|_| "one point for each scalar".to_string())
}
