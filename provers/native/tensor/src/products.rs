//! Claims on products of forms: a sumcheck over the letters that both operands have leaves a claim on each operand.

use rayon::prelude::*;

use crate::axis::Axis;
use crate::channel::Channel;
use crate::checks::Checks;
use crate::claims::{Claim, Claims, form_values};
use crate::errors::Reject;
use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::functional::{Functional, dot, padded_places};
use crate::multilinear::{bits_of, sumcheck};
use crate::plan::{Base, Form, variables};

impl<E: Extension, C: Checks<E>> Claims<'_, E, C> {
    /// Reduces claims on products until only claims on columns are left.
    pub fn reduce_products(&mut self, channel: &mut Channel) -> Result<(), Reject> {
        while let Some(mut claim) = self.products.pop_front() {
            if matches!(self.functionals[claim.weights], Functional::Dense(_)) {
                claim = self.reduce_dense(channel, claim)?;
            }
            self.reduce_product(channel, claim)?;
        }
        Ok(())
    }

    /// From any weights to those of a point: a sumcheck of weights times values.
    fn reduce_dense(
        &mut self,
        channel: &mut Channel,
        claim: Claim<C::Value>,
    ) -> Result<Claim<C::Value>, Reject> {
        let shape = self.plan.bases[claim.base].shape();
        let tables = C::PROVING.then(|| {
            let (places, size) = padded_places(shape);
            let mut tables = [vec![E::ZERO; size], vec![E::ZERO; size]];
            self.functionals[claim.weights].add_to(shape, E::ONE, &mut tables[0]);
            for (&place, &value) in places.iter().zip(&self.values[claim.base]) {
                tables[1][place] = value.into();
            }
            tables
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
        let weight = if C::COUNTING {
            E::ZERO
        } else {
            self.functionals[claim.weights].extension(shape, &reduced.point)
        };
        self.checks
            .zero(given[0].clone() * weight - reduced.claim, Reject::Product)?;
        let weights = self.weights(Functional::point(shape, &reduced.point));
        Ok(Claim {
            base: claim.base,
            weights,
            value: given[0].clone(),
        })
    }

    /// Thaler's reduction: letters of one operand are summed with their weights first, a sumcheck runs over the others.
    fn reduce_product(&mut self, channel: &mut Channel, claim: Claim<C::Value>) -> Result<(), Reject> {
        let plan = self.plan;
        let Base::Product {
            letters: [of_x, of_y, of_z],
            forms,
            ..
        } = &plan.bases[claim.base]
        else {
            unreachable!()
        };
        let Functional::Axes { scale, axes } = self.functionals[claim.weights].clone() else {
            unreachable!()
        };
        let (x, y) = (&plan.forms[forms[0]], &plan.forms[forms[1]]);
        let batch: Vec<u8> = of_z
            .iter()
            .copied()
            .filter(|l| of_x.contains(l) && of_y.contains(l))
            .collect();
        let inner = of_x
            .iter()
            .copied()
            .filter(|l| of_y.contains(l) && !of_z.contains(l));
        let kept: Vec<u8> = batch.iter().copied().chain(inner).collect();
        let extent = |letter: u8| {
            x.shape[of_x
                .iter()
                .position(|&l| l == letter)
                .expect("kept letters are in both")]
        };
        let shape: Vec<usize> = kept.iter().map(|&letter| extent(letter)).collect();
        let weight = |letter: u8| {
            of_z.iter()
                .position(|&l| l == letter)
                .map(|place| axes[place].clone())
        };
        let own = |letters: &[u8], form: &Form| -> Vec<Option<Axis<E>>> {
            let vector = |(&letter, &extent): (&u8, &usize)| {
                (!kept.contains(&letter))
                    .then(|| weight(letter).unwrap_or_else(|| vec![E::ONE; extent].into()))
            };
            letters.iter().zip(&form.shape).map(vector).collect()
        };
        let (weights_x, weights_y) = (own(of_x, x), own(of_y, y));
        let batch_axes: Vec<Axis<E>> = kept
            .iter()
            .zip(&shape)
            .map(|(&letter, &extent)| weight(letter).unwrap_or_else(|| vec![E::ONE; extent].into()))
            .collect();
        let batch_weights = Functional::Axes {
            scale,
            axes: batch_axes,
        };
        let operands = C::PROVING.then(|| {
            let side = |letters: &[u8], form: usize, weights: &[Option<Axis<E>>]| {
                let values = form_values(plan, self.values, form);
                contract(&values, letters, &plan.forms[form].shape, weights, &kept, &shape)
            };
            (side(of_x, forms[0], &weights_x), side(of_y, forms[1], &weights_y))
        });
        let rounds = variables(&shape);
        let (expected, point) = if batch.is_empty() {
            let tables = operands.map(|(mut x, y)| {
                x.iter_mut().for_each(|value| *value = *value * scale);
                [x, y]
            });
            let reduced = sumcheck::<E, C, 2, 2>(
                channel,
                &mut self.checks,
                "product",
                rounds,
                claim.value,
                tables,
                |[x, y]| *x * *y,
            )?;
            (reduced.claim, reduced.point)
        } else {
            let tables = operands.map(|(x, y)| {
                let mut weights = vec![E::ZERO; x.len()];
                batch_weights.add_to(&shape, E::ONE, &mut weights);
                [weights, x, y]
            });
            let reduced = sumcheck::<E, C, 3, 3>(
                channel,
                &mut self.checks,
                "product",
                rounds,
                claim.value,
                tables,
                |[w, x, y]| *w * *x * *y,
            )?;
            (reduced.claim, reduced.point)
        };
        let factor = if batch.is_empty() {
            scale
        } else {
            batch_weights.extension(&shape, &point)
        };
        let Functional::Axes { axes: at, .. } = Functional::point(&shape, &point) else {
            unreachable!()
        };
        let functional = |letters: &[u8], weights: Vec<Option<Axis<E>>>| {
            let axis = |(&letter, vector): (&u8, Option<Axis<E>>)| {
                vector.unwrap_or_else(|| at[kept.iter().position(|&l| l == letter).expect("kept")].clone())
            };
            Functional::Axes {
                scale: E::ONE,
                axes: letters.iter().zip(weights).map(axis).collect(),
            }
        };
        let on_x = self.weights(functional(of_x, weights_x));
        // A square makes one claim, not two.
        let same = forms[0] == forms[1] && of_x == of_y;
        let on_y = if same {
            on_x
        } else {
            self.weights(functional(of_y, weights_y))
        };
        let found = self.settle(channel, "operands", &[(forms[0], on_x), (forms[1], on_y)])?;
        let [on_x, on_y] = [found[0].clone(), found[1].clone()];
        let product = self.checks.product(on_x, on_y);
        self.checks.zero(product * factor - expected, Reject::Product)
    }
}

/// Sums over the axes that have weights; the others are the kept letters, of a table padded to powers of two.
fn contract<E: Extension>(
    values: &[F],
    letters: &[u8],
    extents: &[usize],
    weights: &[Option<Axis<E>>],
    kept: &[u8],
    shape: &[usize],
) -> Vec<E> {
    let mut strides = vec![0usize; kept.len()];
    let mut size = 1;
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = size;
        size <<= bits_of(extent);
    }
    let stride = |letter: u8| {
        kept.iter()
            .position(|&l| l == letter)
            .map_or(0, |place| strides[place])
    };
    let Some((&last, outer)) = letters.split_last() else {
        return vec![values[0].into()];
    };
    let (last_extent, last_stride) = (extents[outer.len()], stride(last));
    // A row's factor, and its place in the table.
    let row = |mut row: usize| {
        let (mut factor, mut place) = (E::ONE, 0);
        for axis in (0..outer.len()).rev() {
            let p = row % extents[axis];
            row /= extents[axis];
            match &weights[axis] {
                Some(weights) => factor = factor * weights[p],
                None => place += p * stride(outer[axis]),
            }
        }
        (factor, place)
    };
    let rows: Vec<&[F]> = values.chunks_exact(last_extent).collect();
    if size * 4 > values.len() {
        // Most sums have few terms.
        let mut made = vec![E::ZERO; size];
        for (r, own) in rows.iter().enumerate() {
            let (factor, place) = row(r);
            match &weights[outer.len()] {
                Some(weights) => made[place] += dot(own, weights) * factor,
                None => {
                    for (j, &x) in own.iter().enumerate() {
                        made[place + j * last_stride] += factor * x;
                    }
                }
            }
        }
        return made;
    }
    let part = |first: usize, rows: &[&[F]]| {
        let mut sums = vec![E::Sum::default(); size];
        for (r, own) in rows.iter().enumerate() {
            let (factor, place) = row(first + r);
            match &weights[outer.len()] {
                Some(weights) => sums[place].add(dot(own, weights), factor),
                None => {
                    for (j, &x) in own.iter().enumerate() {
                        sums[place + j * last_stride].base(factor, x);
                    }
                }
            }
        }
        sums.into_iter().map(E::Sum::value).collect::<Vec<E>>()
    };
    if values.len() < 1 << 16 {
        return part(0, &rows);
    }
    let each = rows.len().div_ceil(rayon::current_num_threads());
    rows.par_chunks(each)
        .enumerate()
        .map(|(c, rows)| part(c * each, rows))
        .reduce_with(|x, y| x.iter().zip(&y).map(|(&x, &y)| x + y).collect())
        .expect("a tensor has rows")
}
