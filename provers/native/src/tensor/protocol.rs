//! The whole protocol over one channel, for prover and verifier alike.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::channel::{Channel, Reject};
use super::checks::{Checks, Proving, Verifying};
use super::claims::{Claims, Values};
use super::commitment::{Commitment, table};
use super::extension::Extension;
use super::field::F;
use super::fractions::{LookedUp, looked_up, multiplicities, prove_lookups};
use super::functional::Functional;
use super::hidden;
use super::merkle::Digest;
use super::opening::Combination;
use super::plan::{Base, Plan, variables};
use super::whir::{Secret, open};

/// What the proof is of, absorbed before anything else.
pub struct Statement<'a> {
    pub digest: &'a [u8],
    /// What the proof belongs to: a run, a step of it; empty for a proof by itself.
    pub context: &'a [u8],
    /// The roots of all commitments but the last.
    pub roots: Vec<Digest>,
}

/// The prover's side: the values of every base, a secret per commitment that salts its leaves, and those already made.
pub struct Witness {
    pub values: Values,
    pub secrets: Vec<[u8; 32]>,
    pub kept: Vec<Option<Arc<Commitment>>>,
}

pub type Phases = Vec<(&'static str, f64)>;

/// Seconds by phase, and who is told when one ends.
pub(super) struct Clock<'a> {
    pub phases: Phases,
    start: Instant,
    progress: &'a dyn Fn(&'static str) -> Result<(), String>,
}

impl<'a> Clock<'a> {
    pub fn new(progress: &'a dyn Fn(&'static str) -> Result<(), String>) -> Self {
        Self {
            phases: Phases::new(),
            start: Instant::now(),
            progress,
        }
    }

    pub fn done(&mut self, name: &'static str) -> Result<(), Reject> {
        self.phases.push((name, self.start.elapsed().as_secs_f64()));
        self.start = Instant::now();
        (self.progress)(name).map_err(Reject)
    }
}

/// What is looked up; the counts of table entries, where they are not given, are set among the values.
pub(super) fn counted(plan: &Plan, values: &mut Values) -> LookedUp {
    let looked_up = looked_up(plan, values);
    for (table, counts) in plan.tables.iter().zip(multiplicities(plan, &looked_up)) {
        let column = plan.forms[table.column].terms[0].base;
        if values[column].is_empty() {
            values[column] = counts;
        }
    }
    looked_up
}

pub(super) fn absorb(channel: &mut Channel, statement: &Statement, plan: &Plan, values: &Values) {
    channel.absorb("statement", statement.digest);
    channel.absorb("context", statement.context);
    for bytes in public_bytes(plan, values) {
        channel.absorb("public", &bytes);
    }
    for root in &statement.roots {
        channel.absorb("root", root);
    }
}

/// The public values, base by base.
pub(super) fn public_bytes(plan: &Plan, values: &Values) -> Vec<Vec<u8>> {
    let bytes = |values: &Vec<F>| {
        values
            .iter()
            .flat_map(|value| value.word().to_le_bytes())
            .collect()
    };
    let all = plan.bases.iter().zip(values);
    let public = all.filter(|(base, _)| matches!(base, Base::Public { .. }));
    public.map(|(_, values)| bytes(values)).collect()
}

/// A proof's bytes, the commitments of all groups, and seconds by phase.
pub type Proved = (Vec<u8>, Vec<Arc<Commitment>>, Phases);

/// Makes a proof, in zero knowledge where the plan says so; returns it with all commitments but its own.
pub fn prove<E: Extension>(
    plan: &Plan,
    digest: &[u8],
    context: &[u8],
    mut witness: Witness,
    mut channel: Channel,
    progress: &dyn Fn(&'static str) -> Result<(), String>,
) -> Result<Proved, Reject> {
    if plan.is_hidden() {
        return hidden::prove::<E>(plan, digest, context, witness, channel, progress);
    }
    let mut clock = Clock::new(progress);
    let looked_up = counted(plan, &mut witness.values);
    let bindings = plan.bindings();
    let commitments: Vec<Arc<Commitment>> = (0..plan.commitments.len())
        .into_par_iter()
        .map(|c| match witness.kept.get(c) {
            Some(Some(kept)) => kept.clone(),
            _ => Arc::new(Commitment::new(
                table(plan, &witness.values, c),
                witness.secrets[c],
                bindings[c],
            )),
        })
        .collect();
    if !commitments
        .iter()
        .zip(&plan.commitments)
        .all(|(own, &bits)| own.is_plain(bits))
    {
        return Reject::because("a commitment that was kept has another size");
    }
    if !commitments
        .iter()
        .zip(&bindings)
        .all(|(own, &binding)| own.binds(binding))
    {
        return Reject::because("a commitment that was kept is of other ports");
    }
    let roots: Vec<Digest> = commitments.iter().map(|commitment| commitment.root()).collect();
    let (own, given) = match roots.split_last() {
        Some((own, given)) => (*own, given.to_vec()),
        None => return Reject::because("a plan without commitments"),
    };
    clock.done("commit")?;
    let statement = Statement {
        digest,
        context,
        roots: given,
    };
    absorb(&mut channel, &statement, plan, &witness.values);
    channel.digest("columns", || own)?;
    let looked_up = Some((looked_up, &mut clock));
    let claims = reduced::<E, _>(&mut channel, plan, &witness.values, Proving {}, looked_up)?;
    clock.done("products")?;
    for (c, commitment) in commitments.iter().enumerate() {
        let gamma: E = channel.challenge("openings");
        let bits = plan.commitments[c];
        let mut weights = Combination::new();
        let (mut claim, mut factor) = (E::ZERO, E::ONE);
        for own in claims.openings.iter().filter(|own| belongs(plan, own.base, c)) {
            let Base::Column { offset, shape, .. } = &plan.bases[own.base] else {
                unreachable!()
            };
            weights.add(*offset, shape, &claims.functionals[own.weights], factor);
            claim += factor * own.value;
            factor = factor * gamma;
        }
        let secret = Secret {
            oracle: &commitment.oracle,
            values: &commitment.table,
            weights: &weights,
        };
        let root = (bindings[c], roots[c]);
        open(&mut channel, bits, root, claim, Some(secret), |_| E::ZERO)?;
    }
    clock.done("open")?;
    let mut commitments = commitments;
    commitments.pop();
    Ok((channel.finish()?, commitments, clock.phases))
}

pub(super) fn belongs(plan: &Plan, base: usize, wanted: usize) -> bool {
    matches!(&plan.bases[base], Base::Column { commitment, .. } if *commitment == wanted)
}

/// Forms that are zero everywhere: their multilinear extensions vanish at a random point.
fn zeros<E: Extension, C: Checks<E>>(
    channel: &mut Channel,
    plan: &Plan,
    claims: &mut Claims<E, C>,
) -> Result<(), Reject> {
    let most = plan
        .zeros
        .iter()
        .map(|&form| variables(&plan.forms[form].shape))
        .max();
    let Some(most) = most else { return Ok(()) };
    let point = channel.challenges("zeros", most);
    let mut wanted = Vec::with_capacity(plan.zeros.len());
    let mut by_shape: HashMap<&[usize], usize> = HashMap::new();
    for &form in &plan.zeros {
        let shape = &plan.forms[form].shape;
        let weights = *by_shape
            .entry(shape)
            .or_insert_with(|| claims.weights(Functional::point(shape, &point[..variables(shape)])));
        wanted.push((form, weights));
    }
    let found = claims.settle(channel, "zeros", &wanted)?;
    let checks = &mut claims.checks;
    found
        .into_iter()
        .try_for_each(|value| checks.zero(value, "an equation of the program does not hold"))
}

/// What both sides do before openings: from a statement to claims on columns. A prover gives what is looked up.
pub(super) fn reduced<'a, E: Extension, C: Checks<E>>(
    channel: &mut Channel,
    plan: &'a Plan,
    values: &'a Values,
    checks: C,
    proving: Option<(LookedUp, &mut Clock)>,
) -> Result<Claims<'a, E, C>, Reject> {
    let mut claims = Claims::new(plan, values, checks);
    let (looked_up, clock) = proving.unzip();
    prove_lookups(channel, plan, &mut claims, looked_up.map(|found| (values, found)))?;
    if let Some(clock) = clock {
        clock.done("lookups")?;
    }
    zeros(channel, plan, &mut claims)?;
    claims.reduce_products(channel)?;
    Ok(claims)
}

/// Checks a proof of a statement, whose public values are in `values` at their bases.
pub fn verify<E: Extension>(
    plan: &Plan,
    statement: &Statement,
    values: &Values,
    proof: &[u8],
) -> Result<(), Reject> {
    if statement.roots.len() + 1 != plan.commitments.len() {
        return Reject::because(format!(
            "expected {} roots, found {}",
            plan.commitments.len() - 1,
            statement.roots.len()
        ));
    }
    if plan.is_hidden() {
        return hidden::verify::<E>(plan, statement, values, proof);
    }
    let mut channel = Channel::verifier(proof);
    absorb(&mut channel, statement, plan, values);
    let own = channel.digest("columns", || unreachable!())?;
    let claims = reduced::<E, _>(&mut channel, plan, values, Verifying {}, None)?;
    let roots = statement.roots.iter().chain([&own]);
    let bound = plan.bindings().into_iter().zip(roots.copied());
    for (c, (&bits, root)) in plan.commitments.iter().zip(bound).enumerate() {
        let gamma: E = channel.challenge("openings");
        let (mut claim, mut factor) = (E::ZERO, E::ONE);
        let mut factors = Vec::new();
        for own in claims.openings.iter().filter(|own| belongs(plan, own.base, c)) {
            claim += factor * own.value;
            factors.push((own, factor));
            factor = factor * gamma;
        }
        open(&mut channel, bits, root, claim, None, |point| {
            claims.opening_weight(&factors, point)
        })?;
    }
    channel.finish().map(drop)
}
