//! All claims on committed columns as one: what the weighted sums add up to, and the weights on each table.

use std::collections::{BTreeMap, HashMap};

use crate::channel::Channel;
use crate::checks::{Checks, Plain};
use crate::claims::{Claims, Mix, mixed};
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::functional::Functional;
use crate::hidden_value::Hidden;
use crate::masked::{Equation, Masking};
use crate::multilinear::{equality, equality_at};
use crate::opening::Combination;
use crate::pairs::Weights;
use crate::plan::{Base, Plan, variables};

/// Claims as one: the sum that is claimed, for each claim its factor, and weights on the words that pads are made of.
pub struct Whole<E> {
    target: E,
    factors: Vec<E>,
    pads: Vec<E>,
}

/// Checks that can say at last what must hold of all columns at once.
pub trait Combined<E: Extension>: Checks<E> + Sized {
    /// Claims of these values, with powers of a challenge as factors; with what was noted, if it was.
    fn combined(self, channel: &mut Channel, values: &[Self::Value]) -> Result<Whole<E>, Reject>;
}

/// So many powers of a challenge, from 1 on.
fn powers<E: Extension>(gamma: E, count: usize) -> Vec<E> {
    std::iter::successors(Some(E::ONE), |&factor| Some(factor * gamma))
        .take(count)
        .collect()
}

impl<E: Extension, const PROVING: bool> Combined<E> for Plain<PROVING> {
    fn combined(self, channel: &mut Channel, values: &[E]) -> Result<Whole<E>, Reject> {
        let factors = powers(channel.challenge("openings"), values.len());
        let claims = values.iter().zip(&factors);
        Ok(Whole {
            target: claims.fold(E::ZERO, |sum, (&value, &factor)| sum + value * factor),
            factors,
            pads: Vec::new(),
        })
    }
}

impl<E: Extension, const PROVING: bool> Combined<E> for Masking<'_, E, PROVING> {
    /// The equation of the pads comes last; the values' own pads are columns of the last table, too.
    fn combined(self, channel: &mut Channel, values: &[Hidden<E>]) -> Result<Whole<E>, Reject> {
        let own = self.finish(channel)?;
        let mut factors = powers(channel.challenge("openings"), values.len() + 1);
        let last = factors.pop().expect("one more");
        let mut all = Equation {
            constant: last * own.constant,
            coefficients: own.coefficients.iter().map(|&own| last * own).collect(),
        };
        for (Hidden { form, .. }, &factor) in values.iter().zip(&factors) {
            all.add(form, E::ZERO - factor);
        }
        let mut coordinates = vec![F::ZERO; E::DEGREE];
        coordinates[1] = F::ONE;
        let root = E::of(&coordinates);
        let words = |coefficient: E| {
            std::iter::successors(Some(coefficient), move |&c| Some(c * root)).take(E::DEGREE)
        };
        Ok(Whole {
            target: E::ZERO - all.constant,
            factors,
            pads: all.coefficients.into_iter().flat_map(words).collect(),
        })
    }
}

/// A column, the weights on it by their numbers, each times its factor.
struct Weighed<E> {
    base: usize,
    weights: Mix<E>,
}

/// What is left of a plan's claims: the sum over tables of <table, weights> is the target.
pub struct Columns<'a, E> {
    plan: &'a Plan,
    functionals: Vec<Functional<E>>,
    claims: Vec<Weighed<E>>,
    pads: Vec<E>,
    /// Where pads lie in the last table.
    start: usize,
    pub target: E,
}

impl<'a, E: Extension> Columns<'a, E> {
    pub fn new<C: Combined<E>>(
        channel: &mut Channel,
        plan: &'a Plan,
        claims: Claims<'_, E, C>,
        start: usize,
    ) -> Result<Self, Reject> {
        let values: Vec<C::Value> = claims.openings.iter().map(|claim| claim.value.clone()).collect();
        let whole = claims.checks.combined(channel, &values)?;
        let mut by_column: BTreeMap<usize, Vec<(E, &Mix<E>)>> = BTreeMap::new();
        for (claim, factor) in claims.openings.iter().zip(whole.factors) {
            by_column
                .entry(claim.base)
                .or_default()
                .push((factor, &claim.weights));
        }
        let weighed = by_column.into_iter().map(|(base, parts)| Weighed {
            base,
            weights: mixed(parts.into_iter()),
        });
        Ok(Self {
            plan,
            claims: weighed.collect(),
            functionals: claims.functionals,
            pads: whole.pads,
            start,
            target: whole.target,
        })
    }

    /// Of the column of a claim the table, the offset there, and the shape.
    fn place(&self, claim: &Weighed<E>) -> (usize, usize, &'a [usize]) {
        match &self.plan.bases[claim.base] {
            Base::Column {
                commitment,
                offset,
                shape,
            } => (*commitment, *offset, shape),
            _ => unreachable!("claims are left on columns alone"),
        }
    }

    /// The weights on each table, for a prover to read.
    pub fn weights(&self) -> Vec<WithPads<'_, E>> {
        let own = self.plan.commitments.len() - 1;
        let mut made: Vec<WithPads<E>> = (0..=own)
            .map(|table| WithPads {
                columns: Combination::new(),
                start: self.start,
                pads: if table == own { &self.pads } else { &[] },
            })
            .collect();
        for claim in &self.claims {
            let (table, offset, shape) = self.place(claim);
            let part = |&(factor, number): &(E, usize)| (factor, &self.functionals[number]);
            let parts: Vec<(E, &Functional<E>)> = claim.weights.iter().map(part).collect();
            made[table].columns.add(offset, shape, &parts);
        }
        made
    }

    /// The extension of the weights on a table, at a point.
    pub fn weight(&self, table: usize, point: &[E]) -> E {
        let mut known: HashMap<&[usize], Functional<E>> = HashMap::new();
        let own = table + 1 == self.plan.commitments.len();
        let pads: &[E] = if own { &self.pads } else { &[] };
        let mut sum = extension_from(self.start, pads, point);
        for claim in &self.claims {
            let (of, offset, shape) = self.place(claim);
            if of != table {
                continue;
            }
            let (low, high) = point.split_at(variables(shape));
            let at = known
                .entry(shape)
                .or_insert_with(|| Functional::point(shape, low));
            let place = equality_at(high, offset >> low.len());
            let parts = claim.weights.iter();
            let own = parts.map(|&(factor, number)| factor * self.functionals[number].against(at));
            sum += place * own.fold(E::ZERO, |sum, part| sum + part);
        }
        sum
    }
}

/// Weights on the columns of a table, and on pads behind them.
pub struct WithPads<'a, E: Extension> {
    columns: Combination<'a, E>,
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

    fn end(&self) -> usize {
        let pads = if self.pads.is_empty() {
            0
        } else {
            self.start + self.pads.len()
        };
        self.columns.end().max(pads)
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
