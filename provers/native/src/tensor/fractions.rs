//! Lookups as a sum of fractions that vanishes (logUp), and the sum as a tree of fractions (eprint 2023/1284).

use rayon::prelude::*;

use super::channel::{Channel, Reject};
use super::claims::{Claims, Values, form_values, vector_weights};
use super::field::{E, F};
use super::functional::{Functional, padded_places};
use super::multilinear::{bind, bits_of, equality_at, equality_of, interpolate};
use super::plan::{Plan, variables};

/// For each lookup its keys, and its values where its table has any, in row-major order.
pub type LookedUp = Vec<(Vec<F>, Option<Vec<F>>)>;

pub fn looked_up(plan: &Plan, values: &Values) -> LookedUp {
    let found = plan.lookups.par_iter().map(|lookup| {
        let second = lookup.value.map(|value| form_values(plan, values, value));
        (form_values(plan, values, lookup.key), second)
    });
    found.collect()
}

/// How often each entry of each table is looked up. Values outside of their table are counted nowhere.
pub fn multiplicities(plan: &Plan, looked_up: &LookedUp) -> Vec<Vec<F>> {
    let mut counts: Vec<Vec<u64>> = plan.tables.iter().map(|table| vec![0; table.size]).collect();
    for (lookup, (keys, _)) in plan.lookups.iter().zip(looked_up) {
        for key in keys {
            if let Some(count) = counts[lookup.table].get_mut(key.word().min(1 << 40) as usize) {
                *count += 1;
            }
        }
    }
    counts
        .into_iter()
        .map(|counts| counts.into_iter().map(F::reduced).collect())
        .collect()
}

struct Layer {
    numerators: Vec<E>,
    denominators: Vec<E>,
}

/// The leaves: 1 / (alpha - beta tag - key - beta^2 value) of each lookup, -multiplicity over the same of each entry.
fn leaves(plan: &Plan, values: &Values, looked_up: LookedUp, alpha: E, beta: E) -> Layer {
    let (offsets, depth) = plan.leaves();
    let mut layer = Layer {
        numerators: vec![E::ZERO; 1 << depth],
        denominators: vec![E::ONE; 1 << depth],
    };
    let square = beta * beta;
    for ((lookup, &offset), (keys, seconds)) in plan.lookups.iter().zip(&offsets).zip(looked_up) {
        let shape = &plan.forms[lookup.key].shape;
        let base = alpha - tag(beta, lookup.table);
        layer.denominators[offset..offset + (1 << variables(shape))].fill(base);
        let (extent, outer) = shape
            .split_last()
            .map_or((1, &[][..]), |(&extent, outer)| (extent, outer));
        let (places, _) = padded_places(outer);
        for (r, (&place, row)) in places.iter().zip(keys.chunks_exact(extent)).enumerate() {
            let at = offset + place * extent.next_power_of_two();
            layer.numerators[at..at + extent].fill(E::ONE);
            for (denominator, &key) in layer.denominators[at..at + extent].iter_mut().zip(row) {
                denominator.a = base.a - key;
            }
            if let Some(seconds) = &seconds {
                for (i, &second) in seconds[r * extent..(r + 1) * extent].iter().enumerate() {
                    layer.denominators[at + i] = layer.denominators[at + i] - square * second;
                }
            }
        }
    }
    for (t, (table, &offset)) in plan.tables.iter().zip(&offsets[plan.lookups.len()..]).enumerate() {
        let base = alpha - tag(beta, t);
        let size = table.size.next_power_of_two();
        layer.denominators[offset..offset + size].fill(base);
        let column = form_values(plan, values, table.column);
        for (key, &count) in column.iter().enumerate() {
            let second = table.values.get(key).map_or(E::ZERO, |&value| square * value);
            layer.numerators[offset + key] = E::ZERO - count.into();
            layer.denominators[offset + key] = base - F::reduced(key as u64).into() - second;
        }
    }
    layer
}

fn tag(beta: E, table: usize) -> E {
    beta * F::reduced(table as u64 + 1)
}

/// The layer above: the sums of a fraction in the first half and one in the second.
fn above(layer: &Layer) -> Layer {
    let half = layer.numerators.len() / 2;
    let (n0, n1) = layer.numerators.split_at(half);
    let (d0, d1) = layer.denominators.split_at(half);
    let (numerators, denominators) = (0..half)
        .into_par_iter()
        .with_min_len(1 << 11)
        .map(|i| (n0[i] * d1[i] + n1[i] * d0[i], d0[i] * d1[i]))
        .unzip();
    Layer {
        numerators,
        denominators,
    }
}

/// The prover's side of one layer's sumcheck: eq(point, x) times d1 m0 + n1 d0, where m0 = n0 + lambda d0.
struct LayerProver {
    /// For each variable, eq of the point's later coordinates.
    suffixes: Vec<Vec<E>>,
    point: Vec<E>,
    /// eq of the coordinates and challenges so far.
    prefix: E,
    lambda: E,
    tables: [Vec<E>; 4],
}

impl LayerProver {
    fn new(layer: Layer, point: &[E], lambda: E) -> Self {
        let half = layer.numerators.len() / 2;
        let (mut m0, mut d0) = (layer.numerators, layer.denominators);
        let (n1, d1) = (m0.split_off(half), d0.split_off(half));
        m0.par_iter_mut()
            .with_min_len(PARALLEL)
            .zip(&d0)
            .for_each(|(m, &d)| *m += lambda * d);
        let mut suffixes = vec![vec![E::ONE]; point.len()];
        for i in (1..point.len()).rev() {
            suffixes[i - 1] = suffixes[i]
                .iter()
                .flat_map(|&entry| {
                    let high = entry * point[i];
                    [entry - high, high]
                })
                .collect();
        }
        Self {
            suffixes,
            point: point.to_vec(),
            prefix: E::ONE,
            lambda,
            tables: [m0, n1, d0, d1],
        }
    }

    /// The round's polynomial h at 0, 2, 3. It is prefix * eq(point[i], X) * q(X), with q quadratic: q at 0 and 2 are
    /// sums, q at 1 follows from h(0) + h(1) = claim.
    fn message(&self, round: usize, claim: E) -> Vec<E> {
        let weights = &self.suffixes[round];
        let [m0, n1, d0, d1] = &self.tables;
        let part = |range: std::ops::Range<usize>| {
            let (mut at_zero, mut at_two) = (E::ZERO, E::ZERO);
            for i in range {
                let at = |table: &[E]| {
                    let (low, high) = (table[2 * i], table[2 * i + 1]);
                    (low, high.double() - low)
                };
                let (m, n, d, e) = (at(m0), at(n1), at(d0), at(d1));
                at_zero += weights[i] * (e.0 * m.0 + n.0 * d.0);
                at_two += weights[i] * (e.1 * m.1 + n.1 * d.1);
            }
            (at_zero, at_two)
        };
        let (q0, q2) = (0..weights.len().div_ceil(PARALLEL))
            .into_par_iter()
            .map(|c| part(c * PARALLEL..weights.len().min((c + 1) * PARALLEL)))
            .reduce(|| (E::ZERO, E::ZERO), |x, y| (x.0 + y.0, x.1 + y.1));
        let r = self.point[round];
        let low = (E::ONE - r) * self.prefix;
        let q1 = (claim - low * q0) * (r * self.prefix).inverse();
        let q3 = (q2 - q1).double() + (q2 - q1) + q0;
        // eq(r, 2) = 3 r - 1, eq(r, 3) = 5 r - 2.
        let (two, three) = (r.double() + r - E::ONE, r.double().double() + r - E::ONE.double());
        vec![low * q0, self.prefix * two * q2, self.prefix * three * q3]
    }

    fn bind(&mut self, round: usize, r: E) {
        self.prefix = self.prefix * equality_of(&self.point[round..=round], &[r]);
        for table in &mut self.tables {
            *table = bind(table, r);
        }
    }

    /// n0, n1, d0, d1 at the point that all variables are bound to.
    fn ends(&self) -> Vec<E> {
        let [m0, n1, d0, d1] = &self.tables;
        vec![m0[0] - self.lambda * d0[0], n1[0], d0[0], d1[0]]
    }
}

const PARALLEL: usize = 1 << 11;

/// Shows that every lookup finds its entry; leaves claims on the forms that are looked up and on multiplicities.
pub fn prove_lookups(
    channel: &mut Channel,
    plan: &Plan,
    claims: &mut Claims,
    witness: Option<(&Values, LookedUp)>,
) -> Result<(), Reject> {
    let proving = witness.is_some();
    if plan.lookups.is_empty() {
        return Ok(());
    }
    let alpha = channel.challenge("lookups.alpha");
    let beta = channel.challenge("lookups.beta");
    let (offsets, depth) = plan.leaves();
    let mut layers = Vec::new();
    if let Some((values, looked_up)) = witness {
        layers.push(leaves(plan, values, looked_up, alpha, beta));
        for _ in 0..depth {
            layers.push(above(&layers[layers.len() - 1]));
        }
    }
    let root = channel.scalars("fractions.root", 1, || vec![layers[depth].denominators[0]])?[0];
    if !proving && root == E::ZERO {
        return Reject::because("the denominator of the sum of fractions is zero");
    }
    // The numerator of the sum is 0 by the statement: it is not sent.
    let (mut numerator, mut denominator) = (E::ZERO, root);
    let mut point: Vec<E> = Vec::new();
    layers.pop();
    for level in 0..depth {
        let lambda = channel.challenge("fractions.combine");
        let claim = numerator + lambda * denominator;
        let mut prover = layers.pop().map(|layer| LayerProver::new(layer, &point, lambda));
        let mut left = claim;
        let mut below = Vec::with_capacity(level + 1);
        for round in 0..level {
            let message = channel.scalars("fractions.sum", 3, || {
                prover.as_ref().expect("proving").message(round, left)
            })?;
            let r = channel.challenge("fractions.sum");
            left = interpolate(left, &message, r);
            if let Some(prover) = &mut prover {
                prover.bind(round, r);
            }
            below.push(r);
        }
        let ends = channel.scalars("fractions.ends", 4, || prover.as_ref().expect("proving").ends())?;
        let [n0, n1, d0, d1] = [ends[0], ends[1], ends[2], ends[3]];
        let sums = d1 * (n0 + lambda * d0) + n1 * d0;
        if !proving && equality_of(&point, &below) * sums != left {
            return Reject::because("the sum of fractions of the lookups does not hold");
        }
        let r = channel.challenge("fractions.line");
        numerator = n0 + (n1 - n0) * r;
        denominator = d0 + (d1 - d0) * r;
        point = below;
        point.push(r);
    }
    // What the leaves must be at the point.
    let mut wanted = Vec::new();
    let mut by_shape: Vec<(Vec<usize>, usize)> = Vec::new();
    for lookup in &plan.lookups {
        let shape = &plan.forms[lookup.key].shape;
        let weights = match by_shape.iter().find(|(known, _)| known == shape) {
            Some(&(_, weights)) => weights,
            None => {
                let made = claims.weights(Functional::point(shape, &point[..variables(shape)]));
                by_shape.push((shape.clone(), made));
                made
            }
        };
        wanted.push((lookup.key, weights));
        wanted.extend(lookup.value.map(|value| (value, weights)));
    }
    for table in &plan.tables {
        let own = vector_weights(&point[..bits_of(table.size)], table.size);
        let weights = claims.weights(Functional::Axes {
            scale: E::ONE,
            axes: vec![own],
        });
        wanted.push((table.column, weights));
    }
    let found = claims.settle(channel, "lookups.values", &wanted)?;
    if proving {
        return Ok(());
    }
    let mut found = found.into_iter().zip(wanted);
    let (mut expected_n, mut expected_d, mut covered) = (E::ZERO, E::ZERO, E::ZERO);
    let square = beta * beta;
    for (lookup, &offset) in plan.lookups.iter().zip(&offsets) {
        let own = variables(&plan.forms[lookup.key].shape);
        let here = equality_at(&point[own..], offset >> own);
        let Some((key, (_, weights))) = found.next() else {
            unreachable!()
        };
        let Functional::Axes { axes, .. } = &claims.functionals[weights] else {
            unreachable!()
        };
        let real = axes.iter().fold(E::ONE, |product, axis| {
            product * axis.iter().fold(E::ZERO, |sum, &w| sum + w)
        });
        let second = lookup
            .value
            .map_or(E::ZERO, |_| square * found.next().map_or(E::ZERO, |pair| pair.0));
        expected_n += here * real;
        expected_d += here * (alpha - tag(beta, lookup.table) - key - second);
        covered += here;
    }
    for (t, (table, &offset)) in plan.tables.iter().zip(&offsets[plan.lookups.len()..]).enumerate() {
        let own = bits_of(table.size);
        let here = equality_at(&point[own..], offset >> own);
        let Some((count, (_, weights))) = found.next() else {
            unreachable!()
        };
        let Functional::Axes { axes, .. } = &claims.functionals[weights] else {
            unreachable!()
        };
        let mut entry = E::ZERO;
        for (key, &w) in axes[0].iter().enumerate() {
            entry += w * F::reduced(key as u64);
            if let Some(&value) = table.values.get(key) {
                entry += w * value * square;
            }
        }
        expected_n = expected_n - here * count;
        expected_d += here * (alpha - tag(beta, t) - entry);
        covered += here;
    }
    expected_d += E::ONE - covered;
    if expected_n != numerator || expected_d != denominator {
        return Reject::because("a value that is looked up is not the one in the sum of fractions");
    }
    Ok(())
}
