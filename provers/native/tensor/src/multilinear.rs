//! Multilinear polynomials as tables over the cube, lowest variable first, and the sumcheck over products of them.

use rayon::prelude::*;

use crate::channel::Channel;
use crate::checks::{Checks, Value};
use crate::errors::Reject;
use crate::extension::{Extension, ExtensionFactor};
use crate::field::F;

const SEQUENTIAL: usize = 1 << 11;

/// eq(point, b) for all b, bit i of b belonging to point[i].
pub fn equality<E: Extension>(point: &[E]) -> Vec<E> {
    let mut table = Vec::with_capacity(1 << point.len());
    table.push(E::ONE);
    for &r in point {
        let half = table.len();
        for i in 0..half {
            let high = table[i] * r;
            table.push(high);
            table[i] = table[i] - high;
        }
    }
    table
}

/// eq(point, .) as the product of a table over at most so many low variables and one over the others.
pub struct Split<E: Extension> {
    pub low: Vec<E::Factor>,
    pub high: Vec<E>,
}

impl<E: Extension> Split<E> {
    pub fn new(point: &[E], most: usize) -> Self {
        let (low, high) = point.split_at(point.len().min(most));
        Self {
            low: equality(low).into_iter().map(E::Factor::new).collect(),
            high: equality(high),
        }
    }
}

/// eq(point, place) for one place of the cube.
pub fn equality_at<E: Extension>(point: &[E], place: usize) -> E {
    point.iter().enumerate().fold(E::ONE, |product, (i, &r)| {
        product * if place >> i & 1 == 1 { r } else { E::ONE - r }
    })
}

/// eq(x, y) for two points.
pub fn equality_of<E: Extension>(x: &[E], y: &[E]) -> E {
    x.iter().zip(y).fold(E::ONE, |product, (&x, &y)| {
        product * (E::ONE - x - y + (x * y).double())
    })
}

/// The number of variables of an axis: 2^bits is the least power of two that holds it.
pub fn bits_of(extent: usize) -> usize {
    extent.next_power_of_two().trailing_zeros() as usize
}

/// The table with its lowest variable bound to r.
pub fn bind<E: Extension>(table: &[E], r: E) -> Vec<E> {
    let line = |pair: &[E]| pair[0] + (pair[1] - pair[0]) * r;
    if table.len() > SEQUENTIAL {
        table
            .par_chunks_exact(2)
            .with_min_len(SEQUENTIAL / 2)
            .map(line)
            .collect()
    } else {
        table.chunks_exact(2).map(line).collect()
    }
}

/// The round's polynomial at 0, 2, ..., D: the sum over the other variables of f of the tables.
fn round<E: Extension, const T: usize, const D: usize>(
    tables: &[&[E]; T],
    f: impl Fn(&[E; T]) -> E + Sync,
) -> [E; D] {
    let half = tables[0].len() / 2;
    let part = |range: std::ops::Range<usize>| {
        let mut sums = [E::ZERO; D];
        for m in range {
            let mut at = [E::ZERO; T];
            let mut step = [E::ZERO; T];
            for (t, table) in tables.iter().enumerate() {
                at[t] = table[2 * m];
                step[t] = table[2 * m + 1] - at[t];
            }
            sums[0] += f(&at);
            for t in 0..T {
                at[t] += step[t];
            }
            for sum in &mut sums[1..] {
                for t in 0..T {
                    at[t] += step[t];
                }
                *sum += f(&at);
            }
        }
        sums
    };
    if half <= SEQUENTIAL {
        return part(0..half);
    }
    let chunks = half.div_ceil(SEQUENTIAL);
    (0..chunks)
        .into_par_iter()
        .map(|c| part(c * SEQUENTIAL..half.min((c + 1) * SEQUENTIAL)))
        .reduce(|| [E::ZERO; D], |x, y| std::array::from_fn(|i| x[i] + y[i]))
}

/// The value at r of the polynomial h of degree `message.len()` with h(0) + h(1) = claim; the message is h(0), h(2), ....
pub fn interpolate<E: Extension, V: Value<E>>(claim: V, message: &[V], r: E) -> V {
    let mut values = vec![message[0].clone(), claim - message[0].clone()];
    values.extend_from_slice(&message[1..]);
    // Lagrange's weights at 0 to D: the product of r - j for j other than i, times D choose i with a sign, over D!.
    let degree = message.len() as u64;
    let from = |j: u64| r - E::from(F::reduced(j));
    let (mut sum, mut binomial, mut factorial) = (V::from(E::ZERO), 1, 1);
    for (i, value) in (0..).zip(values) {
        let others = (0..=degree).filter(|&j| j != i);
        let weight = others.fold(E::ONE, |product, j| product * from(j)) * F::reduced(binomial);
        sum = if (degree - i).is_multiple_of(2) {
            sum + value * weight
        } else {
            sum - value * weight
        };
        binomial = binomial * (degree - i) / (i + 1);
        factorial *= i.max(1);
    }
    sum * F::reduced(factorial).inverse()
}

/// What a sumcheck leaves: the claim on f at a random point, and for the prover the tables there.
pub struct Reduced<E, V, const T: usize> {
    pub claim: V,
    pub point: Vec<E>,
    pub tables: Option<[Vec<E>; T]>,
}

/// Reduces the claim that f of the tables, of degree D, sums to `claim` over `variables` variables.
pub fn sumcheck<E: Extension, C: Checks<E>, const T: usize, const D: usize>(
    channel: &mut Channel,
    checks: &mut C,
    label: &str,
    variables: usize,
    mut claim: C::Value,
    mut tables: Option<[Vec<E>; T]>,
    f: impl Fn(&[E; T]) -> E + Sync,
) -> Result<Reduced<E, C::Value, T>, Reject> {
    let mut point = Vec::with_capacity(variables);
    for _ in 0..variables {
        let message = checks.receive(channel, label, D, || {
            let tables = tables.as_ref().expect("the prover holds tables");
            round::<E, T, D>(&std::array::from_fn(|t| tables[t].as_slice()), &f).to_vec()
        })?;
        let r = channel.challenge(label);
        claim = interpolate(claim, &message, r);
        if let Some(tables) = &mut tables {
            for table in tables.iter_mut() {
                *table = bind(table, r);
            }
        }
        point.push(r);
    }
    Ok(Reduced { claim, point, tables })
}
