//! The whole protocol in zero knowledge over one channel (docs/zero-knowledge.md), for prover and verifier alike.

use std::sync::Arc;

use super::channel::{Channel, Reject};
use super::claims::{Claims, Values};
use super::commitment::{Commitment, fingerprint, table};
use super::counting::{Counting, Counts};
use super::cubic::Cubic;
use super::extension::Extension;
use super::field::F;
use super::geometry::{Demand, Geometry, Vector, fit};
use super::hidden_value::Hidden;
use super::hiding::{Opened, Secret, carried_words, draw_carried};
use super::joint::{Table, open};
use super::masked::{Equation, Masking, draw_pads};
use super::merkle::{Binding, Digest};
use super::multilinear::{equality, equality_at};
use super::opening::Combination;
use super::pairs::Weights;
use super::plan::{Base, Degree, Plan};
use super::protocol::{Clock, Proved, Statement, Witness, absorb, belongs, counted, public_bytes, reduced};
use super::quadratic::Quadratic;
use super::randomness::Randomness;

/// What follows from a plan: its tables' sizes, and where the pads lie in the last one.
#[derive(Clone, Debug)]
pub struct Layout {
    pub tables: Vec<Geometry>,
    pub vectors: Vec<Vector>,
    pub counts: Counts,
    pub pads: usize,
}

impl Layout {
    /// Counts what the plan sends by a verifier of zeros, who is given the numbers of rows alone.
    pub fn of(plan: &Plan, demand: &Demand) -> Result<Self, Reject> {
        let mut zeros: Values = vec![Vec::new(); plan.bases.len()];
        for base in &plan.bases {
            if let Base::Rows { shape, index, .. } = base {
                zeros[*index] = vec![F::ZERO; shape[0]];
            }
        }
        let mut channel = Channel::nothing();
        // What is sent does not depend on where challenges lie; the greatest number of claims does.
        let counts = match plan.degree {
            Degree::Two => {
                reduced::<Quadratic, _>(&mut channel, plan, &zeros, Counting::default(), None)?
                    .checks
                    .0
            }
            Degree::Three => {
                reduced::<Cubic, _>(&mut channel, plan, &zeros, Counting::default(), None)?
                    .checks
                    .0
            }
        };
        let degree = match plan.degree {
            Degree::Two => 2,
            Degree::Three => 3,
        };
        let own = plan.commitments.len() - 1;
        let pads = plan.end(own);
        let tables: Vec<Geometry> = (0..=own)
            .map(|c| match plan.openings.get(c) {
                Some(&openings) => demand.table(plan.end(c), openings),
                None => demand.table(pads + degree * counts.pads(), 1),
            })
            .collect();
        let vectors = demand.vectors(&tables);
        if !fit(&tables, &vectors) {
            return Reject::because("the plan's tables do not fit the field's domains");
        }
        Ok(Self {
            tables,
            vectors,
            counts,
            pads,
        })
    }
}

/// Weights on the columns of a table, and on pads behind them.
struct WithPads<'a, E: Extension> {
    columns: &'a Combination<'a, E>,
    start: usize,
    pads: &'a [E],
}

impl<E: Extension> Weights<E> for WithPads<'_, E> {
    fn read(&self, start: usize, weights: &mut [E]) {
        self.columns.read(start, weights);
        let from = self.start.max(start);
        let to = (self.start + self.pads.len()).min(start + weights.len());
        if from < to {
            weights[from - start..to - start].copy_from_slice(&self.pads[from - self.start..to - self.start]);
        }
    }
}

/// The extension over a table, at a point, of weights on the elements from `start` on.
fn extension_from<E: Extension>(start: usize, weights: &[E], point: &[E]) -> E {
    let bits = weights.len().next_power_of_two().trailing_zeros() as usize;
    let (low, high) = point.split_at(bits);
    let low = equality(low);
    let mut sum = E::ZERO;
    let mut at = start;
    while at < start + weights.len() {
        let block = at >> bits;
        let end = ((block + 1) << bits).min(start + weights.len());
        let own = weights[at - start..end - start]
            .iter()
            .zip(&low[at - (block << bits)..]);
        let part = own.fold(E::ZERO, |sum, (&w, &e)| sum + w * e);
        sum += part * equality_at(high, block);
        at = end;
    }
    sum
}

/// The claims on all tables and the equation of the pads, as one: what the weighted sums come to, and weights on pads.
struct Whole<E> {
    target: E,
    /// For each claim its factor.
    factors: Vec<E>,
    /// On the words that pads are made of.
    pads: Vec<E>,
}

fn combined<E: Extension, const PROVING: bool>(
    channel: &mut Channel,
    counts: Counts,
    claims: &mut Claims<E, Masking<E, PROVING>>,
) -> Result<Whole<E>, Reject> {
    let checks = std::mem::replace(&mut claims.checks, Masking::new(counts, &[]));
    let own = checks.finish(channel)?;
    let gamma: E = channel.challenge("openings");
    let mut all = Equation::zero(counts);
    let mut factor = E::ONE;
    let mut factors = Vec::with_capacity(claims.openings.len());
    for claim in &claims.openings {
        let Hidden { form, .. } = &claim.value;
        all.add(form, E::ZERO - factor);
        factors.push(factor);
        factor = factor * gamma;
    }
    all.constant += factor * own.constant;
    for (sum, coefficient) in all.coefficients.iter_mut().zip(own.coefficients) {
        *sum += factor * coefficient;
    }
    let root = {
        let mut coordinates = vec![F::ZERO; E::DEGREE];
        coordinates[1] = F::ONE;
        E::of(&coordinates)
    };
    let words =
        |coefficient: E| std::iter::successors(Some(coefficient), move |&c| Some(c * root)).take(E::DEGREE);
    Ok(Whole {
        target: E::ZERO - all.constant,
        factors,
        pads: all.coefficients.into_iter().flat_map(words).collect(),
    })
}

/// Makes a proof in zero knowledge; returns it with all commitments but its own.
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
pub(super) fn proved<E: Extension>(
    plan: &Plan,
    layout: &Layout,
    (digest, context): (&[u8], &[u8]),
    mut witness: Witness,
    mut channel: Channel,
    progress: &dyn Fn(&'static str) -> Result<(), String>,
    drawn: &dyn Fn(usize, Randomness) -> Randomness,
) -> Result<Proved, Reject> {
    let mut clock = Clock::new(progress);
    let own = plan.commitments.len() - 1;
    let looked_up = counted(plan, &mut witness.values);
    let bindings = plan.bindings();
    let mut commitments: Vec<Arc<Commitment>> = Vec::with_capacity(own + 1);
    for (c, (&geometry, &binding)) in layout.tables[..own].iter().zip(&bindings).enumerate() {
        let made = match witness.kept.get(c) {
            Some(Some(kept)) => kept.clone(),
            _ => {
                let mut words = table(plan, &witness.values, c);
                words.truncate(geometry.end);
                let randomness = Commitment::randomness(&words, &witness.secrets[c], binding);
                Arc::new(Commitment::hidden(
                    words,
                    geometry,
                    &drawn(c, randomness),
                    binding,
                ))
            }
        };
        if !made.is_of(&geometry, binding) {
            return Reject::because("a commitment that was kept is of another size or of other ports");
        }
        commitments.push(made);
    }
    let statement = Statement {
        digest,
        context,
        roots: commitments.iter().map(|commitment| commitment.root()).collect(),
    };
    let roots = &statement.roots;
    if (1..own).any(|c| roots[..c].contains(&roots[c])) {
        return Reject::because(
            "two groups have one root, which would be opened twice: give each a secret of its own",
        );
    }
    let mut words = table(plan, &witness.values, own);
    words.resize(layout.pads, F::ZERO);
    let randomness = drawn(own, own_randomness(plan, &statement, &witness, &words));
    let pads: Vec<E> = draw_pads(layout.counts, &randomness);
    words.extend(
        pads.iter()
            .flat_map(|&pad| (0..E::DEGREE).map(move |place| pad.coordinate(place))),
    );
    let geometry = layout.tables[own];
    let carried = draw_carried::<E>(&randomness, "carried", &geometry);
    let beside = carried_words(&carried, &geometry);
    let random = randomness.words("columns", geometry.random);
    let secret = randomness.secret("salts");
    commitments.push(Arc::new(Commitment::with(
        words,
        random,
        geometry,
        secret,
        beside,
        bindings[own],
    )));
    let roots: Vec<Digest> = commitments.iter().map(|commitment| commitment.root()).collect();
    clock.done("commit")?;
    absorb(&mut channel, &statement, plan, &witness.values);
    channel.digest("columns", || roots[own])?;
    let checks = Masking::<E, true>::new(layout.counts, &pads);
    let looked_up = Some((looked_up, &mut clock));
    let mut claims = reduced::<E, _>(&mut channel, plan, &witness.values, checks, looked_up)?;
    let whole = combined(&mut channel, layout.counts, &mut claims)?;
    clock.done("products")?;
    let mut columns: Vec<Combination<E>> = bindings.iter().map(|_| Combination::new()).collect();
    for (claim, &factor) in claims.openings.iter().zip(&whole.factors) {
        let Base::Column {
            commitment,
            offset,
            shape,
        } = &plan.bases[claim.base]
        else {
            unreachable!()
        };
        columns[*commitment].add(*offset, shape, &claims.functionals[claim.weights], factor);
    }
    let with_pads = WithPads {
        columns: &columns[own],
        start: layout.pads,
        pads: &whole.pads,
    };
    let opened = commitments.iter().enumerate().map(|(c, commitment)| Opened {
        oracle: &commitment.oracle,
        values: &commitment.table,
        weights: if c == own { &with_pads } else { &columns[c] },
    });
    let secret = Secret {
        tables: opened.collect(),
        carried,
        randomness: &randomness,
    };
    let tables = known(layout, &bindings, &roots);
    let tables = (&tables[..], &layout.vectors[..]);
    open(&mut channel, tables, whole.target, Some(secret), |_, _| E::ZERO)?;
    clock.done("open")?;
    commitments.pop();
    Ok((channel.finish()?, commitments, clock.phases))
}

/// The prover's randomness: of its secret, and all that the proof is of, so that no other proof shares any of it.
fn own_randomness(plan: &Plan, statement: &Statement, witness: &Witness, columns: &[F]) -> Randomness {
    let publics = public_bytes(plan, &witness.values).concat();
    let secret = witness.secrets.last().expect("a secret of the proof's own");
    let columns = fingerprint(columns);
    let parts: [&[u8]; 5] = [
        statement.digest,
        statement.context,
        &publics,
        &statement.roots.concat(),
        &columns,
    ];
    Randomness::new(secret, &parts)
}

fn known<'a>(layout: &Layout, bindings: &[Binding<'a>], roots: &[Digest]) -> Vec<Table<'a>> {
    layout
        .tables
        .iter()
        .zip(bindings)
        .zip(roots)
        .map(|((&geometry, &binding), &root)| Table {
            geometry,
            binding,
            root,
        })
        .collect()
}

/// Checks a proof in zero knowledge of a statement, whose public values are in `values` at their bases.
pub fn verify<E: Extension>(
    plan: &Plan,
    statement: &Statement,
    values: &Values,
    proof: &[u8],
) -> Result<(), Reject> {
    let layout = plan.layout()?;
    let mut channel = Channel::verifier(proof);
    absorb(&mut channel, statement, plan, values);
    let columns = channel.digest("columns", || unreachable!())?;
    let checks = Masking::<E, false>::new(layout.counts, &[]);
    let mut claims = reduced(&mut channel, plan, values, checks, None)?;
    let whole = combined(&mut channel, layout.counts, &mut claims)?;
    let own = plan.commitments.len() - 1;
    let roots: Vec<Digest> = statement.roots.iter().copied().chain([columns]).collect();
    let tables = known(layout, &plan.bindings(), &roots);
    let mut factors: Vec<Vec<_>> = roots.iter().map(|_| Vec::new()).collect();
    for (claim, &factor) in claims.openings.iter().zip(&whole.factors) {
        let place = (0..=own).find(|&c| belongs(plan, claim.base, c));
        factors[place.expect("a column")].push((claim, factor));
    }
    let tables = (&tables[..], &layout.vectors[..]);
    open(&mut channel, tables, whole.target, None, |table, point: &[E]| {
        let mut sum = claims.opening_weight(&factors[table], point);
        if table == own {
            sum += extension_from(layout.pads, &whole.pads, point);
        }
        sum
    })?;
    channel.finish().map(drop)
}
