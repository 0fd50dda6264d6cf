//! Proving: a witness is checked, committed to in its phases, and argued about by the crate.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::create_proof;
use rand_core::OsRng;

use super::circuit::Witness;
use super::keys::{Polynomials, ProvingKey, assemble};
use super::satisfied::{Broken, Values};
use super::scheme::{Kzg, Shplonk};
use super::system::System;
use super::transcript::{Drawn, Keccak};
use super::verify::verdict;

pub type Phases = Vec<(&'static str, f64)>;

/// Why there is no proof.
pub enum Refusal {
    Broken(Broken),
    Malformed(String),
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::Malformed(message)
    }
}

/// What a prover claims and knows; `second` makes the columns of phase 1 from the challenges.
pub struct Claim<'a> {
    pub instances: Vec<Vec<Fr>>,
    pub first: Vec<Vec<Fr>>,
    pub second: &'a dyn Fn(&[Fr]) -> Result<Vec<Vec<Fr>>, String>,
}

/// Leaves the crate's proving through its frames: it is no failure of the program, and reports nothing.
struct Stop;

fn check_lengths(system: &System, claim: &Claim) -> Result<(), String> {
    let shape = &system.shape;
    let lengths = claim.instances.iter().map(Vec::len).collect::<Vec<_>>();
    if lengths != shape.instances {
        return Err(format!(
            "instance columns of lengths {lengths:?}, expected {:?}",
            shape.instances
        ));
    }
    check_columns(
        &claim.first,
        shape.phases.iter().filter(|&&phase| phase == 0).count(),
        shape.rows,
        0,
    )
}

fn check_columns(columns: &[Vec<Fr>], count: usize, rows: usize, phase: u8) -> Result<(), String> {
    if columns.len() != count {
        return Err(format!(
            "{} columns of phase {phase}, expected {count}",
            columns.len()
        ));
    }
    match columns.iter().find(|column| column.len() > rows) {
        Some(column) => Err(format!(
            "a column of {} rows, expected at most {rows}",
            column.len()
        )),
        None => Ok(()),
    }
}

pub fn prove(
    key: &ProvingKey,
    system: &System,
    claim: Claim,
    report: &dyn Fn(&'static str) -> Result<(), String>,
) -> Result<(Vec<u8>, Phases), Refusal> {
    let verifying = &*key.verifying;
    if verifying.shape != system.shape {
        return Err("the key is for a system of another shape".to_string().into());
    }
    check_lengths(system, &claim)?;
    let (mut phases, mut start) = (Phases::new(), Instant::now());
    let lap = |name: &'static str, phases: &mut Phases, start: &mut Instant| {
        phases.push((name, start.elapsed().as_secs_f64()));
        *start = Instant::now();
    };
    report("columns")?;
    let polynomials = Polynomials::new(system, verifying.key.get_domain());
    let proving = assemble(verifying, polynomials);
    lap("columns", &mut phases, &mut start);
    report("commitments")?;
    let refusal = RefCell::new(None);
    let outside = Cell::new(0.0);
    let instances = &claim.instances;
    let second = |challenges: &[Fr], first: &[Vec<Fr>]| -> Vec<Vec<Fr>> {
        let stop = |reason: Refusal| -> ! {
            *refusal.borrow_mut() = Some(reason);
            resume_unwind(Box::new(Stop))
        };
        let paused = Instant::now();
        let shape = &system.shape;
        let columns = match shape.two_phases() {
            true => (claim.second)(challenges),
            false => Ok(Vec::new()),
        };
        let expected = shape.phases.iter().filter(|&&phase| phase == 1).count();
        let columns = columns.and_then(|columns| {
            check_columns(&columns, expected, shape.rows, 1)?;
            Ok(columns)
        });
        let columns = columns.unwrap_or_else(|message| stop(Refusal::Malformed(message)));
        outside.set(paused.elapsed().as_secs_f64());
        let mut sources = [first.iter(), columns.iter()];
        let advice = shape
            .phases
            .iter()
            .filter_map(|&phase| sources[usize::from(phase)].next())
            .map(Vec::as_slice)
            .collect();
        let values = Values {
            system,
            advice,
            instances,
            challenges,
        };
        if let Some(broken) = values.broken() {
            stop(Refusal::Broken(broken));
        }
        if let Err(message) = report("arguments") {
            stop(Refusal::Malformed(message));
        }
        columns
    };
    let witness = Witness {
        shape: system.shape.clone(),
        first: claim.first,
        second: &second,
    };
    let columns = claim.instances.iter().map(Vec::as_slice).collect::<Vec<_>>();
    let mut transcript = Keccak::new(&verifying.checksum, Vec::new());
    let made = catch_unwind(AssertUnwindSafe(|| {
        create_proof::<Kzg, Shplonk, Drawn, _, _, _>(
            &key.bases,
            &proving,
            &[witness],
            &[&columns],
            OsRng,
            &mut transcript,
        )
    }));
    match made {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(format!("halo2: {error}").into()),
        Err(payload) => {
            return Err(refusal
                .take()
                .unwrap_or_else(|| match payload.downcast::<String>() {
                    Ok(message) => Refusal::Malformed(format!("halo2: {message}")),
                    Err(_) => Refusal::Malformed("halo2 gave up".into()),
                }));
        }
    }
    drop(proving);
    phases.push(("second phase", outside.get()));
    phases.push(("proof", start.elapsed().as_secs_f64() - outside.get()));
    start = Instant::now();
    let proof = transcript.stream;
    verdict(verifying, &claim.instances, &proof).map_err(|reason| {
        format!("the proof does not hold ({reason}); the key is not one for this system")
    })?;
    lap("check", &mut phases, &mut start);
    Ok((proof, phases))
}
