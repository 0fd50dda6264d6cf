//! The whole protocol over one channel, for prover and verifier alike.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use crate::channel::Channel;
use crate::checks::{Checks, Proving, Verifying};
use crate::claims::{Claims, Sum, Values};
use crate::columns::Columns;
use crate::commitment::{Commitment, committed, table};
use crate::cubic::Cubic;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::fractions::{LookedUp, looked_up, multiplicities, prove_lookups};
use crate::functional::Functional;
use crate::hidden::{own_randomness, own_table};
use crate::joint;
use crate::layout::Layout;
use crate::masked::Masking;
use crate::merkle::Digest;
use crate::plan::{Base, Degree, Plan, variables};
use crate::quadratic::Quadratic;
use crate::randomness::Randomness;
use crate::vectors::{Hiding, Opened, Prover};

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
pub(crate) struct Clock<'a> {
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
        (self.progress)(name).map_err(Reject::Unproved)
    }
}

/// What is looked up; the counts of table entries, where they are not given, are set among the values.
pub(crate) fn counted(plan: &Plan, values: &mut Values) -> LookedUp {
    let looked_up = looked_up(plan, values);
    for (table, counts) in plan.tables.iter().zip(multiplicities(plan, &looked_up)) {
        let column = plan.forms[table.column].terms[0].base;
        if values[column].is_empty() {
            values[column] = counts;
        }
    }
    looked_up
}

pub(crate) fn absorb(channel: &mut Channel, statement: &Statement, plan: &Plan, values: &Values) {
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
pub(crate) fn public_bytes(plan: &Plan, values: &Values) -> Vec<Vec<u8>> {
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
    witness: Witness,
    channel: Channel,
    progress: &dyn Fn(&'static str) -> Result<(), String>,
) -> Result<Proved, Reject> {
    let (layout, of) = (plan.layout()?, (digest, context));
    proved::<E>(plan, layout, of, witness, channel, progress, &|_, own| own)
}

/// The same of any layout, from what `drawn` makes of the randomness of each table, by the table's number.
pub(crate) fn proved<E: Extension>(
    plan: &Plan,
    layout: &Layout,
    (digest, context): (&[u8], &[u8]),
    mut witness: Witness,
    mut channel: Channel,
    progress: &dyn Fn(&'static str) -> Result<(), String>,
    drawn: &(dyn Fn(usize, Randomness) -> Randomness + Sync),
) -> Result<Proved, Reject> {
    let mut clock = Clock::new(progress);
    let looked_up = counted(plan, &mut witness.values);
    let bindings = plan.bindings();
    let Some((own, groups)) = layout.tables.split_last() else {
        return Reject::because("a plan without commitments");
    };
    let number = groups.len();
    let mut commitments: Vec<Arc<Commitment>> = (0..number)
        .into_par_iter()
        .map(|c| match witness.kept.get(c) {
            Some(Some(kept)) => kept.clone(),
            _ => Arc::new(committed(plan, layout, c, &witness, drawn)),
        })
        .collect();
    let mut of = commitments.iter().zip(groups).zip(&bindings);
    if !of.all(|((one, geometry), &binding)| one.is_of(geometry, binding)) {
        return Reject::because("a commitment that was kept is of another size or of other ports");
    }
    let statement = Statement {
        digest,
        context,
        roots: commitments.iter().map(|commitment| commitment.root()).collect(),
    };
    let roots = &statement.roots;
    if plan.hidden && (1..number).any(|c| roots[..c].contains(&roots[c])) {
        return Reject::because(
            "two groups have one root, which would be opened twice: give each a secret of its own",
        );
    }
    let mut words = table(plan, &witness.values, number);
    let (made, pads) = if plan.hidden {
        words.resize(layout.pads, F::ZERO);
        let randomness = drawn(number, own_randomness(plan, &statement, &witness, &words));
        let (made, pads) = own_table::<E>(layout, words, bindings[number], randomness);
        (made, Some(pads))
    } else {
        let secret = witness.secrets[number];
        (Commitment::plain(words, *own, secret, bindings[number]), None)
    };
    commitments.push(Arc::new(made));
    clock.done("commit")?;
    absorb(&mut channel, &statement, plan, &witness.values);
    channel.digest("columns", || commitments[number].root())?;
    let (values, start) = (&witness.values, layout.pads);
    let looked_up = Some((looked_up, &mut clock));
    let columns = match &pads {
        Some(pads) => {
            let checks = Masking::<E, true>::new(layout.counts, &pads.sent);
            let claims = reduced(&mut channel, plan, values, checks, looked_up)?;
            Columns::new(&mut channel, plan, claims, start)?
        }
        None => {
            let claims = reduced(&mut channel, plan, values, Proving {}, looked_up)?;
            Columns::new(&mut channel, plan, claims, start)?
        }
    };
    clock.done("products")?;
    // From here on tables are read alone: what is freed is as much as weights that were committed to before.
    drop(std::mem::take(&mut witness.values));
    let weights = columns.weights();
    let opened =
        commitments
            .iter()
            .zip(&weights)
            .zip(&layout.tables)
            .map(|((commitment, weights), geometry)| Opened {
                fold: geometry.fold,
                oracle: &commitment.oracle,
                values: &commitment.table,
                weights,
            });
    let hiding = pads.as_ref().map(|pads| Hiding {
        carried: pads.carried.clone(),
        randomness: &pads.randomness,
    });
    let prover = Prover::new(opened.collect(), hiding);
    let roots: Vec<Digest> = commitments.iter().map(|commitment| commitment.root()).collect();
    let tables = layout.known(&bindings, &roots);
    let tables = (&tables[..], &layout.vectors[..]);
    joint::prove(&mut channel, tables, columns.target, prover)?;
    clock.done("open")?;
    commitments.pop();
    Ok((channel.finish()?, commitments, clock.phases))
}

/// Forms that are zero everywhere: a sum of their multilinear extensions, times powers of a challenge, vanishes at a random
/// point.
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
    let rho: E = channel.challenge("zeros.combine");
    let mut wanted = Sum::with_capacity(plan.zeros.len());
    let mut by_shape: HashMap<&[usize], usize> = HashMap::new();
    let mut factor = E::ONE;
    for &form in &plan.zeros {
        let shape = &plan.forms[form].shape;
        let weights = *by_shape
            .entry(shape)
            .or_insert_with(|| claims.weights(Functional::point(shape, &point[..variables(shape)])));
        wanted.push((factor, form, weights));
        factor = factor * rho;
    }
    let found = claims.settle(channel, "zeros", &[wanted])?;
    claims.checks.zero(found[0].clone(), Reject::Equation)
}

/// What both sides do before openings: from a statement to claims on columns. A prover gives what is looked up.
pub(crate) fn reduced<'a, E: Extension, C: Checks<E>>(
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

/// Checks the bytes of a proof of a statement, whose public values are in `values` at their bases, as `check_values` takes
/// them. Of the proof nothing is trusted, and nothing about it panics.
///
/// Soundness: docs/tensor.md. The plan, the digest, the roots and the values must be the verifier's own.
pub fn verify(plan: &Plan, statement: &Statement, values: &Values, proof: &[u8]) -> Result<(), Reject> {
    let check = || match plan.degree {
        Degree::Two => checked::<Quadratic>(plan, statement, values, proof),
        Degree::Three => checked::<Cubic>(plan, statement, values, proof),
    };
    catch_unwind(AssertUnwindSafe(check)).unwrap_or(Err(Reject::Malformed))
}

fn checked<E: Extension>(
    plan: &Plan,
    statement: &Statement,
    values: &Values,
    proof: &[u8],
) -> Result<(), Reject> {
    if statement.roots.len() + 1 != plan.commitments.len() {
        return Err(Reject::Roots {
            found: statement.roots.len(),
            expected: plan.commitments.len() - 1,
        });
    }
    let layout = plan.layout()?;
    let mut channel = Channel::verifier(proof);
    absorb(&mut channel, statement, plan, values);
    let own = channel.read_digest("columns")?;
    let start = layout.pads;
    let columns: Columns<E> = if plan.hidden {
        let checks = Masking::<E, false>::new(layout.counts, &[]);
        let claims = reduced(&mut channel, plan, values, checks, None)?;
        Columns::new(&mut channel, plan, claims, start)?
    } else {
        let claims = reduced(&mut channel, plan, values, Verifying {}, None)?;
        Columns::new(&mut channel, plan, claims, start)?
    };
    let roots: Vec<Digest> = statement.roots.iter().copied().chain([own]).collect();
    let bindings = plan.bindings();
    let tables = layout.known(&bindings, &roots);
    let tables = (&tables[..], &layout.vectors[..]);
    joint::check(&mut channel, tables, columns.target, |table, point| {
        columns.weight(table, point)
    })?;
    channel.finish().map(drop)
}
