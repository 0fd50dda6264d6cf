//! Lookups as a sum of fractions that vanishes (logUp), and the sum as a tree of fractions (eprint 2023/1284).

use rayon::prelude::*;

use crate::axis::Axis;
use crate::channel::Channel;
use crate::checks::Checks;
use crate::claims::{Claims, Sum, Values, form_values};
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::functional::{Functional, dot};
use crate::leaves::Leaves;
use crate::multilinear::{bits_of, equality_at, equality_of, interpolate};
use crate::plan::{Plan, variables};
use crate::tree::Tree;

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

fn tag<E: Extension>(beta: E, table: usize) -> E {
    beta * F::reduced(table as u64 + 1)
}

/// Shows that every lookup finds its entry; leaves claims on the forms that are looked up and on multiplicities.
pub fn prove_lookups<E: Extension, C: Checks<E>>(
    channel: &mut Channel,
    plan: &Plan,
    claims: &mut Claims<E, C>,
    witness: Option<(&Values, LookedUp)>,
) -> Result<(), Reject> {
    if plan.lookups.is_empty() {
        return Ok(());
    }
    let alpha: E = channel.challenge("lookups.alpha");
    let beta = channel.challenge("lookups.beta");
    let (offsets, depth) = plan.leaves();
    let mut tree = witness.map(|(values, looked_up)| {
        let counts: Vec<Vec<F>> = plan
            .tables
            .iter()
            .map(|table| form_values(plan, values, table.column))
            .collect();
        Tree::new(Leaves::new(plan, looked_up, &counts, alpha, beta))
    });
    let checks = &mut claims.checks;
    let root = checks.receive(channel, "fractions.root", 1, || {
        vec![tree.as_mut().expect("the prover holds a tree").root()]
    })?[0]
        .clone();
    checks.not_zero(channel, root.clone(), Reject::Denominator)?;
    // The numerator of the sum is 0 by the statement: it is not sent.
    let (mut numerator, mut denominator) = (C::Value::from(E::ZERO), root);
    let mut point: Vec<E> = Vec::new();
    for level in 0..depth {
        let lambda: E = channel.challenge("fractions.combine");
        let claim = numerator + denominator * lambda;
        let mut prover = tree.as_mut().map(|tree| tree.descend(&point, lambda));
        let mut left = claim;
        let mut below = Vec::with_capacity(level + 1);
        for _ in 0..level {
            let message = checks.receive(channel, "fractions.sum", 3, || {
                prover.as_ref().expect("proving").message(C::known(&left))
            })?;
            let r: E = channel.challenge("fractions.sum");
            left = interpolate(left, &message, r);
            if let Some(prover) = &mut prover {
                prover.bind(r);
            }
            below.push(r);
        }
        let ends = checks.receive(channel, "fractions.ends", 4, || {
            prover.as_ref().expect("proving").ends()
        })?;
        let [n0, n1, d0, d1] = [0, 1, 2, 3].map(|end| ends[end].clone());
        let sums = checks.product(d1.clone(), n0.clone() + d0.clone() * lambda)
            + checks.product(n1.clone(), d0.clone());
        checks.zero(sums * equality_of(&point, &below) - left, Reject::Fractions)?;
        let r: E = channel.challenge("fractions.line");
        numerator = n0.clone() + (n1 - n0) * r;
        denominator = d0.clone() + (d1 - d0) * r;
        point = below;
        point.push(r);
    }
    // What the leaves must be at the point: a sum of counts, and one of keys and values, each form weighed by its place.
    let square = beta * beta;
    let (mut counts, mut entries) = (Sum::new(), Sum::new());
    let (mut expected_n, mut expected_d, mut covered) = (E::ZERO, E::ZERO, E::ZERO);
    let mut by_shape: Vec<(Vec<usize>, usize)> = Vec::new();
    for (lookup, &offset) in plan.lookups.iter().zip(&offsets) {
        let shape = &plan.forms[lookup.key].shape;
        let own = variables(shape);
        let weights = match by_shape.iter().find(|(known, _)| known == shape) {
            Some(&(_, weights)) => weights,
            None => {
                let made = claims.weights(Functional::point(shape, &point[..own]));
                by_shape.push((shape.clone(), made));
                made
            }
        };
        let here = equality_at(&point[own..], offset >> own);
        entries.push((here, lookup.key, weights));
        entries.extend(lookup.value.map(|value| (here * square, value, weights)));
        expected_n += here * claims.functionals[weights].sum();
        expected_d += here * (alpha - tag(beta, lookup.table));
        covered += here;
    }
    for (t, (table, &offset)) in plan.tables.iter().zip(&offsets[plan.lookups.len()..]).enumerate() {
        let own = bits_of(table.size);
        let weights = Axis::point(&point[..own], table.size);
        let here = equality_at(&point[own..], offset >> own);
        let mut entry = weights.number();
        if !table.values.is_empty() {
            entry += dot(&table.values, &weights) * square;
        }
        expected_d += here * (alpha - tag(beta, t) - entry);
        covered += here;
        let axes = vec![weights];
        let weights = claims.weights(Functional::Axes { scale: E::ONE, axes });
        counts.push((here, table.column, weights));
    }
    let found = claims.settle(channel, "lookups.values", &[counts, entries])?;
    let expected_n = C::Value::from(expected_n) - found[0].clone();
    let expected_d = C::Value::from(expected_d + E::ONE - covered) - found[1].clone();
    claims.checks.zero(expected_n - numerator, Reject::LookedUp)?;
    claims.checks.zero(expected_d - denominator, Reject::LookedUp)
}
