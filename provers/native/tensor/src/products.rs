//! Claims on products of forms: a sumcheck over the letters that both operands have leaves a claim on each operand.

use crate::axis::Axis;
use crate::channel::Channel;
use crate::checks::Checks;
use crate::claims::{Claim, Claims, Mix, Sum, form_values, mixed};
use crate::contraction::contract;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::functional::Functional;
use crate::letters::Letters;
use crate::multilinear::{bits_of, equality, sumcheck};
use crate::padding::padded_places;
use crate::plan::variables;
use crate::weight_tables::table_of;

/// Weights on one letter's axis, for each letter of a form; None for letters that a sumcheck runs over.
type OwnWeights<E> = Vec<Option<Axis<E>>>;

impl<E: Extension, C: Checks<E>> Claims<'_, E, C> {
    /// Reduces claims on products until only claims on columns are left, the last product first: all claims on it are known
    /// then, since its forms are of bases before it.
    pub fn reduce_products(&mut self, channel: &mut Channel) -> Result<(), Reject> {
        while let Some((base, claims)) = self.products.pop_last() {
            let claim = self.combined(channel, base, claims);
            self.reduce_product(channel, claim)?;
        }
        Ok(())
    }

    /// Claims on one base as one, by powers of a challenge.
    fn combined(
        &mut self,
        channel: &mut Channel,
        base: usize,
        mut claims: Vec<Claim<E, C::Value>>,
    ) -> Claim<E, C::Value> {
        if claims.len() == 1
            && let Some(claim) = claims.pop()
        {
            return claim;
        }
        let gamma: E = channel.challenge("products.combine");
        let factors = || std::iter::successors(Some(E::ONE), |&factor| Some(factor * gamma));
        let weights = mixed(factors().zip(claims.iter().map(|claim| &claim.weights)));
        let values = factors().zip(&claims);
        Claim {
            base,
            weights,
            value: values.fold(C::Value::from(E::ZERO), |sum, (factor, claim)| {
                sum + claim.value.clone() * factor
            }),
        }
    }

    fn parts_of<'b>(&'b self, weights: &Mix<E>) -> Vec<(E, &'b Functional<E>)> {
        let part = |&(factor, number): &(E, usize)| (factor, &self.functionals[number]);
        weights.iter().map(part).collect()
    }

    /// The weights' extension at a point; nothing where only messages are counted.
    fn extension(&self, weights: &Mix<E>, shape: &[usize], point: &[E]) -> E {
        if C::COUNTING {
            return E::ZERO;
        }
        let at = Functional::point(shape, point);
        let parts = weights
            .iter()
            .map(|&(factor, number)| factor * self.functionals[number].against(&at));
        parts.fold(E::ZERO, |sum, part| sum + part)
    }

    fn reduce_product(&mut self, channel: &mut Channel, mut claim: Claim<E, C::Value>) -> Result<(), Reject> {
        let letters = Letters::of(self.plan, claim.base);
        if letters.elementwise {
            return self.reduce_elementwise(channel, claim, &letters);
        }
        let separable =
            |&(_, number): &(E, usize)| matches!(self.functionals[number], Functional::Axes { .. });
        if !claim.weights.iter().all(separable) || !letters.is_summed_apart(claim.weights.len()) {
            claim = self.reduce_dense(channel, claim)?;
        }
        self.reduce_contraction(channel, claim, &letters)
    }

    /// From any weights to those of a point: a sumcheck of weights times values.
    fn reduce_dense(
        &mut self,
        channel: &mut Channel,
        claim: Claim<E, C::Value>,
    ) -> Result<Claim<E, C::Value>, Reject> {
        let shape = self.plan.bases[claim.base].shape();
        let tables = C::PROVING.then(|| {
            let (places, size) = padded_places(shape);
            let mut values = vec![E::ZERO; size];
            for (&place, &value) in places.iter().zip(&self.values[claim.base]) {
                values[place] = value.into();
            }
            [table_of(shape, &self.parts_of(&claim.weights)), values]
        });
        let reduced = sumcheck::<E, C, 2, 2>(
            channel,
            &mut self.checks,
            "dense",
            variables(shape),
            claim.value,
            tables,
            |[w, x]| *w * *x,
        )?;
        let given = self.checks.receive(channel, "dense.value", 1, || {
            vec![reduced.tables.as_ref().expect("proving")[1][0]]
        })?;
        let weight = self.extension(&claim.weights, shape, &reduced.point);
        self.checks
            .zero(given[0].clone() * weight - reduced.claim, Reject::Product)?;
        let weights = self.weights(Functional::point(shape, &reduced.point));
        Ok(Claim {
            base: claim.base,
            weights: vec![(E::ONE, weights)],
            value: given[0].clone(),
        })
    }

    /// A product element by element: a sumcheck of any weights times both operands.
    fn reduce_elementwise(
        &mut self,
        channel: &mut Channel,
        claim: Claim<E, C::Value>,
        letters: &Letters,
    ) -> Result<(), Reject> {
        let shape = &letters.shape;
        let tables = C::PROVING.then(|| {
            let [x, y] = [0, 1].map(|side| {
                let values = form_values(self.plan, self.values, letters.forms[side]);
                let none = vec![None; shape.len()];
                contract(
                    &values,
                    letters.of[side],
                    &letters.extents(side),
                    &none,
                    &letters.kept,
                    shape,
                )
            });
            [table_of(shape, &self.parts_of(&claim.weights)), x, y]
        });
        let reduced = sumcheck::<E, C, 3, 3>(
            channel,
            &mut self.checks,
            "product",
            variables(shape),
            claim.value,
            tables,
            |[w, x, y]| *w * *x * *y,
        )?;
        let factor = self.extension(&claim.weights, shape, &reduced.point);
        let none = || [0, 1].map(|side| vec![None; letters.of[side].len()]);
        self.on_operands(
            channel,
            letters,
            vec![(E::ONE, none())],
            &reduced.point,
            (factor, reduced.claim),
        )
    }

    /// Thaler's reduction: letters of one operand are summed with their weights first, a sumcheck runs over the others.
    ///
    /// Of weights that are a sum of several, the sumcheck runs over these too: their number has the highest variables.
    fn reduce_contraction(
        &mut self,
        channel: &mut Channel,
        claim: Claim<E, C::Value>,
        letters: &Letters,
    ) -> Result<(), Reject> {
        let shape = &letters.shape;
        let mut own: Vec<[OwnWeights<E>; 2]> = Vec::with_capacity(claim.weights.len());
        let mut batches: Vec<(E, Functional<E>)> = Vec::with_capacity(claim.weights.len());
        for &(factor, number) in &claim.weights {
            let Functional::Axes { scale, axes } = &self.functionals[number] else {
                unreachable!("weights are separable")
            };
            own.push([0, 1].map(|side| letters.own(side, axes)));
            let scale = *scale;
            let axes = letters.of_kept(axes);
            batches.push((factor * scale, Functional::Axes { scale: E::ONE, axes }));
        }
        let (apart, size) = (bits_of(own.len()), 1 << variables(shape));
        let operands = C::PROVING.then(|| {
            [0, 1].map(|side| {
                let values = form_values(self.plan, self.values, letters.forms[side]);
                let of = |own: &[OwnWeights<E>; 2]| {
                    contract(
                        &values,
                        letters.of[side],
                        &letters.extents(side),
                        &own[side],
                        &letters.kept,
                        shape,
                    )
                };
                let mut table: Vec<E> = own.iter().flat_map(of).collect();
                table.resize(size << apart, E::ZERO);
                table
            })
        });
        let rounds = apart + variables(shape);
        let simple = letters.batch == 0 && own.len() == 1;
        let (expected, point) = if simple {
            let scale = batches[0].0;
            let tables = operands.map(|[mut x, y]| {
                x.iter_mut().for_each(|value| *value = *value * scale);
                [x, y]
            });
            let sum = |[x, y]: &[E; 2]| *x * *y;
            let reduced = sumcheck::<E, C, 2, 2>(
                channel,
                &mut self.checks,
                "product",
                rounds,
                claim.value,
                tables,
                sum,
            )?;
            (reduced.claim, reduced.point)
        } else {
            let tables = operands.map(|[x, y]| {
                let mut weights = vec![E::ZERO; size << apart];
                for ((factor, batch), table) in batches.iter().zip(weights.chunks_exact_mut(size)) {
                    batch.add_to(shape, *factor, table);
                }
                [weights, x, y]
            });
            let sum = |[w, x, y]: &[E; 3]| *w * *x * *y;
            let reduced = sumcheck::<E, C, 3, 3>(
                channel,
                &mut self.checks,
                "product",
                rounds,
                claim.value,
                tables,
                sum,
            )?;
            (reduced.claim, reduced.point)
        };
        let (low, high) = point.split_at(variables(shape));
        let places = equality(high);
        let factor = if simple {
            batches[0].0
        } else {
            let at = Functional::point(shape, low);
            let parts = places.iter().zip(&batches);
            parts.fold(E::ZERO, |sum, (&place, (factor, batch))| {
                sum + place * *factor * batch.against(&at)
            })
        };
        let own = places.into_iter().zip(own).collect();
        self.on_operands(channel, letters, own, low, (factor, expected))
    }

    /// What is left: the factor times both operands at a point is the rest of the sumcheck. Each operand's weights are a sum
    /// of products, of the point along the letters that the sumcheck ran over.
    fn on_operands(
        &mut self,
        channel: &mut Channel,
        letters: &Letters,
        own: Vec<(E, [OwnWeights<E>; 2])>,
        point: &[E],
        (factor, expected): (E, C::Value),
    ) -> Result<(), Reject> {
        let Functional::Axes { axes: at, .. } = Functional::point(&letters.shape, point) else {
            unreachable!("a point's weights are a product")
        };
        // A square makes one claim, not two.
        let sides = if letters.is_square() { 1 } else { 2 };
        let mut wanted: Vec<Sum<E>> = vec![Sum::new(); sides];
        for (place, own) in own {
            for (side, (sum, own)) in wanted.iter_mut().zip(own).enumerate() {
                let axis = |(&letter, weights): (&u8, Option<Axis<E>>)| {
                    weights.unwrap_or_else(|| at[letters.place(letter)].clone())
                };
                let axes = letters.of[side].iter().zip(own).map(axis).collect();
                let number = self.weights(Functional::Axes { scale: E::ONE, axes });
                sum.push((place, letters.forms[side], number));
            }
        }
        let found = self.settle(channel, "operands", &wanted)?;
        let product = self
            .checks
            .product(found[0].clone(), found[found.len() - 1].clone());
        self.checks.zero(product * factor - expected, Reject::Product)
    }
}
