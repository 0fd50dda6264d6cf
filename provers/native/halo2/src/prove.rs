//! Proving: a witness is committed to in its phases, checked, and argued about; the proof is verified before it is given.

use std::cell::RefCell;
use std::time::Instant;

use halo2_axiom::halo2curves::bn256::Fr;

use crate::argue::Arguer;
use crate::proving_key::ProvingKey;
use crate::satisfied::{Broken, Values};
use crate::system::System;
use crate::verify::verify;

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

/// What makes the columns of phase 1 from the challenges.
pub type Second<'a> = dyn Fn(&[Fr]) -> Result<Vec<Vec<Fr>>, String> + 'a;

/// What a prover claims and knows; `second` makes the columns of phase 1 from the challenges.
pub struct Claim<'a> {
    pub instances: Vec<Vec<Fr>>,
    pub first: Vec<Vec<Fr>>,
    pub second: &'a Second<'a>,
}

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
    let mut arguer = Arguer::new(key, system, &claim.instances)?;
    lap("columns", &mut phases, &mut start);
    report("commitments")?;
    arguer.commit(0, &claim.first)?;
    lap("first phase", &mut phases, &mut start);
    let challenges = arguer.challenges();
    let second = match system.shape.two_phases() {
        true => (claim.second)(&challenges)?,
        false => Vec::new(),
    };
    let expected = system.shape.phases.iter().filter(|&&phase| phase == 1).count();
    check_columns(&second, expected, system.shape.rows, 1)?;
    lap("second witness", &mut phases, &mut start);
    let mut sources = [claim.first.iter(), second.iter()];
    let values = Values {
        system,
        advice: system
            .shape
            .phases
            .iter()
            .filter_map(|&phase| sources[usize::from(phase)].next())
            .map(Vec::as_slice)
            .collect(),
        instances: &claim.instances,
        challenges: &challenges,
    };
    if let Some(broken) = values.broken() {
        return Err(Refusal::Broken(broken));
    }
    lap("witness check", &mut phases, &mut start);
    arguer.commit(1, &second)?;
    lap("second phase", &mut phases, &mut start);
    drop((claim.first, second));
    let laps = RefCell::new((phases, start, "challenges"));
    let proof = arguer.finish(&|phase| {
        let (phases, start, running) = &mut *laps.borrow_mut();
        lap(running, phases, start);
        *running = phase;
        report(phase)
    })?;
    let (mut phases, mut start, running) = laps.into_inner();
    lap(running, &mut phases, &mut start);
    verify(verifying, &claim.instances, &proof).map_err(|reason| {
        format!("the proof does not hold ({reason}); the key is not one for this system")
    })?;
    lap("check", &mut phases, &mut start);
    Ok((proof, phases))
}
