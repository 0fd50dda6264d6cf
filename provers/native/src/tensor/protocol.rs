//! The whole protocol over one channel, for prover and verifier alike.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::channel::{Channel, Reject};
use super::checks::{Checks, Proving, Verifying};
use super::claims::{Claims, Values};
use super::domain::Use;
use super::extension::Extension;
use super::field::F;
use super::fractions::{looked_up, multiplicities, prove_lookups};
use super::functional::{Functional, padded_places};
use super::geometry::{Geometry, SOUND};
use super::hidden;
use super::memory;
use super::merkle::{Binding, Digest};
use super::ntt;
use super::opening::Combination;
use super::oracle::Oracle;
use super::plan::{Base, Plan, variables};
use super::randomness::Randomness;
use super::whir::{Secret, WIDTH, open};

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

/// A commitment and all that opening it takes: made once, opened in any number of proofs.
pub struct Commitment {
    pub(super) table: Vec<F>,
    pub(super) oracle: Oracle,
    root: Digest,
    /// Of one for proofs in zero knowledge.
    geometry: Option<Geometry>,
}

impl Commitment {
    fn new(table: Vec<F>, secret: [u8; 32], binding: Binding) -> Self {
        let bits = table.len().trailing_zeros() as usize;
        let oracle = Oracle::commit(&table, bits + 1, secret);
        let root = binding.root(&oracle.top());
        Self {
            table,
            oracle,
            root,
            geometry: None,
        }
    }

    /// Commits to tensors at their offsets, in a table of 2^bits elements; or, of the size that so many openings take,
    /// in zero knowledge.
    pub fn of(
        bits: usize,
        tensors: &[(Vec<usize>, usize, Vec<F>)],
        secret: [u8; 32],
        binding: Binding,
        openings: Option<usize>,
    ) -> Self {
        let mut table = memory::zeros(1 << bits);
        for (shape, offset, values) in tensors {
            place(shape, values, &mut table[*offset..]);
        }
        let Some(openings) = openings else {
            return Self::new(table, secret, binding);
        };
        let ends = tensors
            .iter()
            .map(|(shape, offset, _)| offset + (1 << variables(shape)));
        let geometry = SOUND.table(ends.max().unwrap_or(0), openings);
        table.truncate(geometry.end);
        let randomness = Self::randomness(&table, &secret, binding);
        Self::hidden(table, geometry, &randomness, binding)
    }

    /// The secret, the list of ports and the words decide the random ones: so one secret used twice gives unrelated ones.
    pub fn randomness(words: &[F], secret: &[u8; 32], binding: Binding) -> Randomness {
        Randomness::new(secret, &[&binding.root(&fingerprint(words))])
    }

    /// Commits to words and random ones behind them.
    pub fn hidden(words: Vec<F>, geometry: Geometry, randomness: &Randomness, binding: Binding) -> Self {
        let random = randomness.words("root", geometry.random);
        Self::with(
            words,
            random,
            geometry,
            randomness.secret("salts"),
            Vec::new(),
            binding,
        )
    }

    /// Commits to words, and at their place to random ones; `carried` lies beside the leaves.
    pub(super) fn with(
        mut words: Vec<F>,
        random: Vec<F>,
        geometry: Geometry,
        salts: [u8; 32],
        carried: Vec<F>,
        binding: Binding,
    ) -> Self {
        words.resize(geometry.end, F::ZERO);
        words.extend(random);
        let symbols = ntt::values(&words, geometry.domain());
        let oracle = Oracle::of(symbols, WIDTH, carried, Some(salts));
        words.resize(1 << geometry.bits, F::ZERO);
        let root = binding.root(&oracle.top());
        Self {
            table: words,
            oracle,
            root,
            geometry: Some(geometry),
        }
    }

    /// Whether this is a commitment of this size, and of these ports.
    pub(super) fn is_of(&self, geometry: &Geometry, binding: Binding) -> bool {
        self.geometry.as_ref() == Some(geometry) && self.root == binding.root(&self.oracle.top())
    }

    pub fn root(&self) -> Digest {
        self.root
    }
}

/// A hash of words.
pub(super) fn fingerprint(words: &[F]) -> Digest {
    let mut hasher = Use::Table.hasher();
    let mut bytes = Vec::with_capacity(1 << 16);
    for words in words.chunks(1 << 13) {
        bytes.clear();
        bytes.extend(words.iter().flat_map(|word| word.word().to_le_bytes()));
        hasher.update(&bytes);
    }
    *hasher.finalize().as_bytes()
}

pub type Phases = Vec<(&'static str, f64)>;

/// A commitment's table: its columns at their offsets, axes padded to powers of two with zeros.
pub(super) fn table(plan: &Plan, values: &Values, commitment: usize) -> Vec<F> {
    let mut table = memory::zeros(1 << plan.commitments[commitment]);
    for (base, values) in plan.bases.iter().zip(values) {
        if let Base::Column {
            commitment: own,
            offset,
            shape,
        } = base
            && *own == commitment
        {
            place(shape, values, &mut table[*offset..]);
        }
    }
    table
}

/// Puts a tensor into a table where its axes are padded to powers of two.
fn place(shape: &[usize], values: &[F], table: &mut [F]) {
    let Some((&extent, outer)) = shape.split_last() else {
        table[0] = values[0];
        return;
    };
    let width = extent.next_power_of_two();
    for (&at, row) in padded_places(outer).0.iter().zip(values.chunks_exact(extent)) {
        table[at * width..at * width + extent].copy_from_slice(row);
    }
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
    let mut phases = Phases::new();
    let mut start = Instant::now();
    let mut done = |name: &'static str, phases: &mut Phases| -> Result<(), Reject> {
        phases.push((name, start.elapsed().as_secs_f64()));
        start = Instant::now();
        progress(name).map_err(Reject)
    };
    let looked_up = looked_up(plan, &witness.values);
    for (table, counts) in plan.tables.iter().zip(multiplicities(plan, &looked_up)) {
        let column = plan.forms[table.column].terms[0].base;
        if witness.values[column].is_empty() {
            witness.values[column] = counts;
        }
    }
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
    let fits = |(commitment, &bits): (&Arc<Commitment>, &usize)| {
        commitment.table.len() == 1 << bits && commitment.geometry.is_none()
    };
    if !commitments.iter().zip(&plan.commitments).all(fits) {
        return Reject::because("a commitment that was kept has another size");
    }
    let binds = |(commitment, binding): (&Arc<Commitment>, &Binding)| {
        commitment.root == binding.root(&commitment.oracle.top())
    };
    if !commitments.iter().zip(&bindings).all(binds) {
        return Reject::because("a commitment that was kept is of other ports");
    }
    let roots: Vec<Digest> = commitments.iter().map(|commitment| commitment.root()).collect();
    let (own, given) = match roots.split_last() {
        Some((own, given)) => (*own, given.to_vec()),
        None => return Reject::because("a plan without commitments"),
    };
    done("commit", &mut phases)?;
    let statement = Statement {
        digest,
        context,
        roots: given,
    };
    absorb(&mut channel, &statement, plan, &witness.values);
    channel.digest("columns", || own)?;
    let mut claims = Claims::<E, Proving>::new(plan, &witness.values, Proving {});
    prove_lookups(
        &mut channel,
        plan,
        &mut claims,
        Some((&witness.values, looked_up)),
    )?;
    done("lookups", &mut phases)?;
    zeros(&mut channel, plan, &mut claims)?;
    claims.reduce_products(&mut channel)?;
    done("products", &mut phases)?;
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
    done("open", &mut phases)?;
    let mut commitments = commitments;
    commitments.pop();
    Ok((channel.finish()?, commitments, phases))
}

pub(super) fn belongs(plan: &Plan, base: usize, wanted: usize) -> bool {
    matches!(&plan.bases[base], Base::Column { commitment, .. } if *commitment == wanted)
}

/// Forms that are zero everywhere: their multilinear extensions vanish at a random point.
pub(super) fn zeros<E: Extension, C: Checks<E>>(
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

/// What a verifier does before openings: from a statement to claims on columns.
pub(super) fn reduced<'a, E: Extension, C: Checks<E>>(
    channel: &mut Channel,
    plan: &'a Plan,
    values: &'a Values,
    checks: C,
) -> Result<Claims<'a, E, C>, Reject> {
    let mut claims = Claims::new(plan, values, checks);
    prove_lookups(channel, plan, &mut claims, None)?;
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
    let claims = reduced::<E, _>(&mut channel, plan, values, Verifying {})?;
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
