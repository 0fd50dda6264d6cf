//! The Groth16 prover (Groth, "On the Size of Pairing-based Non-interactive Arguments", 2016, section 3.2).

use std::time::Instant;

use ark_bn254::{G1Projective, G2Projective};
use ark_ec::CurveGroup;
use zeroize::Zeroizing;

use crate::commitment::Opening;
use crate::proving_key::ProvingKey;
use crate::reduction::{Refusal, numerator};
use crate::system::{System, Witness};
use crate::verify::{Proof, holds};
use circuitize_curves::entropy::Entropy;
use circuitize_curves::msm::msm;
use circuitize_curves::signed;

/// Seconds of wall-clock time for each phase, in the order they ran.
pub type Phases = Vec<(&'static str, f64)>;

/// A zero-knowledge proof that `witness` satisfies `system`, checked against the key before it is handed out.
///
/// `opening` is of the commitment to the committed wires, where the key has such; its D becomes the proof's.
pub fn prove(
    key: &ProvingKey,
    system: &System,
    witness: &Witness,
    opening: Option<&Opening>,
    entropy: &mut Entropy,
    report: &(dyn Fn(&'static str) -> Result<(), String> + Sync),
) -> Result<(Proof, Phases), Refusal> {
    let malformed = Refusal::Malformed;
    let verifying = &key.verifying;
    let sizes = (key.rows, key.wires, verifying.public(), verifying.committed());
    if sizes != (system.rows(), system.wires, system.public, system.committed) {
        return Err(malformed(format!(
            "the proving key is for {} rows, {} wires, {} publics and {} committed wires, the system has {}, {}, {} and {}",
            sizes.0,
            sizes.1,
            sizes.2,
            sizes.3,
            system.rows(),
            system.wires,
            system.public,
            system.committed
        )));
    }
    if opening.is_some() != key.d.is_some() {
        return Err(malformed(
            "expected a commitment exactly where the key commits to wires".into(),
        ));
    }
    let mut clock = Clock {
        phases: Phases::new(),
        report,
    };
    let numerator = clock.run("fft", || numerator(system, witness))??;
    let h = clock.run("msm H", || {
        let integers = signed::from_fields(&numerator);
        let all = (0..integers.len() as u32).collect::<Vec<_>>();
        msm(&key.h, &all, &integers)
    })?;
    let values = &witness.integers;
    let a: G1Projective = clock.run("msm A", || msm(&key.a.points, &key.a.wires, values))?;
    let b_g1: G1Projective = clock.run("msm B1", || msm(&key.b_g1.points, &key.b_g1.wires, values))?;
    let b_g2: G2Projective = clock.run("msm B2", || msm(&key.b_g2, &key.b_g1.wires, values))?;
    let l: G1Projective = clock.run("msm C", || msm(&key.l.points, &key.l.wires, values))?;
    let proof = clock.run("finish", || {
        let r = Zeroizing::new(entropy.scalar()?);
        let s = Zeroizing::new(entropy.scalar()?);
        let a = a + key.verifying.alpha_g1 + key.delta_g1 * *r;
        let b_g1 = b_g1 + key.beta_g1 + key.delta_g1 * *s;
        let b_g2 = b_g2 + key.verifying.beta_g2 + key.verifying.delta_g2 * *s;
        let mut c = l + h + a * *s + b_g1 * *r - key.delta_g1 * (*r * *s);
        if let (Some(opening), Some(d)) = (opening, &key.d) {
            c -= d.delta_g1 * *opening.kappa;
        }
        Ok(Proof {
            a: a.into_affine(),
            b: b_g2.into_affine(),
            c: c.into_affine(),
            d: opening.map(|opening| opening.d),
        })
    })?;
    let proof: Proof = proof.map_err(malformed)?;
    let publics = &witness.fields[1..=system.public];
    if clock.run("check", || holds(&key.verifying, publics, &proof))? {
        Ok((proof, clock.phases))
    } else {
        Err(malformed(
            "the proof does not verify: the proving key does not belong to this system".into(),
        ))
    }
}

struct Clock<'a> {
    phases: Phases,
    report: &'a (dyn Fn(&'static str) -> Result<(), String> + Sync),
}

impl Clock<'_> {
    fn run<T>(&mut self, phase: &'static str, work: impl FnOnce() -> T) -> Result<T, Refusal> {
        (self.report)(phase).map_err(Refusal::Malformed)?;
        let start = Instant::now();
        let result = work();
        self.phases.push((phase, start.elapsed().as_secs_f64()));
        Ok(result)
    }
}
