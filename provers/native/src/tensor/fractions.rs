//! Lookups as a sum of fractions that vanishes (logUp), and the sum as a tree of fractions (eprint 2023/1284).

use rayon::prelude::*;

use super::channel::{Channel, Reject};
use super::claims::{Claims, Values, form_values, vector_weights};
use super::field::{E, F};
use super::multilinear::{bits_of, equality, equality_at, equality_of, sumcheck};
use super::plan::{Plan, variables};
use super::view::{Functional, padded_places};

/// How often each entry of each table is looked up. Values outside of their table are counted nowhere.
pub fn multiplicities(plan: &Plan, values: &Values) -> Vec<Vec<F>> {
    let mut counts: Vec<Vec<u64>> = plan.tables.iter().map(|table| vec![0; table.size]).collect();
    for lookup in &plan.lookups {
        for key in form_values(plan, values, lookup.key) {
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
fn leaves(plan: &Plan, values: &Values, alpha: E, beta: E) -> Layer {
    let (offsets, depth) = plan.leaves();
    let mut layer = Layer {
        numerators: vec![E::ZERO; 1 << depth],
        denominators: vec![E::ONE; 1 << depth],
    };
    let square = beta * beta;
    for (lookup, &offset) in plan.lookups.iter().zip(&offsets) {
        let shape = &plan.forms[lookup.key].shape;
        let base = alpha - tag(beta, lookup.table);
        let (places, size) = padded_places(shape);
        layer.denominators[offset..offset + size].fill(base);
        let keys = form_values(plan, values, lookup.key);
        let seconds = lookup.value.map(|value| form_values(plan, values, value));
        for (i, (&place, &key)) in places.iter().zip(&keys).enumerate() {
            let second = seconds.as_ref().map_or(E::ZERO, |seconds| square * seconds[i]);
            layer.numerators[offset + place] = E::ONE;
            layer.denominators[offset + place] = base - key.into() - second;
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

/// Shows that every lookup finds its entry; leaves claims on the forms that are looked up and on multiplicities.
pub fn prove_lookups(
    channel: &mut Channel,
    plan: &Plan,
    values: &Values,
    claims: &mut Claims,
    proving: bool,
) -> Result<(), Reject> {
    if plan.lookups.is_empty() {
        return Ok(());
    }
    let alpha = channel.challenge("lookups.alpha");
    let beta = channel.challenge("lookups.beta");
    let (offsets, depth) = plan.leaves();
    let mut layers = Vec::new();
    if proving {
        layers.push(leaves(plan, values, alpha, beta));
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
        let tables = layers.pop().map(|layer| {
            let half = layer.numerators.len() / 2;
            let (n, d) = (layer.numerators, layer.denominators);
            [
                equality(&point),
                n[..half].to_vec(),
                n[half..].to_vec(),
                d[..half].to_vec(),
                d[half..].to_vec(),
            ]
        });
        let f = |[eq, n0, n1, d0, d1]: &[E; 5]| *eq * (*d1 * (*n0 + lambda * *d0) + *n1 * *d0);
        let reduced = sumcheck::<5, 3>(channel, "fractions.sum", level, claim, tables, f)?;
        let ends = channel.scalars("fractions.ends", 4, || {
            let tables = reduced.tables.as_ref().expect("proving");
            (1..5).map(|t| tables[t][0]).collect()
        })?;
        let [n0, n1, d0, d1] = [ends[0], ends[1], ends[2], ends[3]];
        if !proving && f(&[equality_of(&point, &reduced.point), n0, n1, d0, d1]) != reduced.claim {
            return Reject::because("the sum of fractions of the lookups does not hold");
        }
        let r = channel.challenge("fractions.line");
        numerator = n0 + (n1 - n0) * r;
        denominator = d0 + (d1 - d0) * r;
        point = reduced.point;
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
