//! Claims on weighted sums of forms, reduced to claims on committed columns: (commitment, weights, value), opened last.

use std::collections::{HashMap, VecDeque};

use rayon::prelude::*;

use super::channel::{Channel, Reject};
use super::field::{E, F};
use super::functional::{Functional, dot, padded_places};
use super::multilinear::{bits_of, equality, sumcheck};
use super::plan::{Base, Form, Plan, variables};
use super::sums::ExtensionSum;

/// The values of every base in row-major order: all of them for the prover, public ones for the verifier.
pub type Values = Vec<Vec<F>>;

/// The error of batching claims is bounded by their number.
const MOST_CLAIMS: usize = 1 << 18;

pub struct Claim {
    pub base: usize,
    pub weights: usize,
    pub value: E,
}

/// Every claim made so far, and what is still to be shown of them.
pub struct Claims<'a> {
    plan: &'a Plan,
    values: &'a Values,
    proving: bool,
    pub functionals: Vec<Functional>,
    moved: HashMap<(usize, usize, bool), usize>,
    scattered: HashMap<(usize, usize), usize>,
    known: HashMap<(usize, usize), E>,
    products: VecDeque<Claim>,
    pub openings: Vec<Claim>,
}

impl<'a> Claims<'a> {
    pub fn new(plan: &'a Plan, values: &'a Values, proving: bool) -> Self {
        Self {
            plan,
            values,
            proving,
            functionals: Vec::new(),
            moved: HashMap::new(),
            scattered: HashMap::new(),
            known: HashMap::new(),
            products: VecDeque::new(),
            openings: Vec::new(),
        }
    }

    pub fn weights(&mut self, functional: Functional) -> usize {
        self.functionals.push(functional);
        self.functionals.len() - 1
    }

    /// The weights on a term's base that weights on its form are.
    fn along(&mut self, weights: usize, path: &[(usize, bool)]) -> usize {
        path.iter().fold(weights, |weights, &(view, sums)| {
            if let Some(&found) = self.moved.get(&(weights, view, sums)) {
                return found;
            }
            let from = &self.functionals[weights];
            let map = &self.plan.views[view];
            let made = if sums { map.push(from) } else { map.pull(from) };
            let made = self.weights(made);
            self.moved.insert((weights, view, sums), made);
            made
        })
    }

    /// A claim on rows of a column is one on the column: the weights of a row go to the row that is read.
    fn resolved(&mut self, base: usize, weights: usize) -> (usize, usize) {
        let Base::Rows { column, index, .. } = self.plan.bases[base] else {
            return (base, weights);
        };
        if let Some(&found) = self.scattered.get(&(base, weights)) {
            return (column, found);
        }
        let rows: Vec<usize> = self.values[index].iter().map(|row| row.word() as usize).collect();
        let extent = self.plan.bases[column].shape()[0];
        let made = self.functionals[weights].scatter_rows(&rows, extent);
        let made = self.weights(made);
        self.scattered.insert((base, weights), made);
        (column, made)
    }

    /// The weighted sum of a base whose values both sides know.
    fn evaluated(&self, base: usize, weights: usize) -> Option<E> {
        let functional = &self.functionals[weights];
        match &self.plan.bases[base] {
            Base::Public { .. } => Some(functional.apply(&self.values[base])),
            Base::Constant { values, .. } if values.len() == 1 => Some(match functional {
                Functional::Axes { scale, axes } => axes.iter().fold(*scale * values[0], |product, axis| {
                    product * axis.iter().fold(E::ZERO, |sum, &w| sum + w)
                }),
                Functional::Dense(weights) => weights.iter().fold(E::ZERO, |sum, &w| sum + w) * values[0],
            }),
            Base::Constant { values, .. } => Some(functional.apply(values)),
            _ => None,
        }
    }

    /// The weighted sums of forms: one message gives those of bases that only the prover knows, each once.
    pub fn settle(
        &mut self,
        channel: &mut Channel,
        label: &str,
        wanted: &[(usize, usize)],
    ) -> Result<Vec<E>, Reject> {
        let plan = self.plan;
        let mut asked: Vec<(usize, usize)> = Vec::new();
        let mut seen: Vec<(usize, usize)> = Vec::new();
        let mut fresh = HashMap::new();
        let mut rows: Vec<Vec<(F, usize, usize)>> = Vec::with_capacity(wanted.len());
        for &(form, weights) in wanted {
            let mut row = Vec::new();
            for term in &plan.forms[form].terms {
                let own = (term.base, self.along(weights, &term.path));
                let key = self.resolved(own.0, own.1);
                row.push((term.coefficient, key.0, key.1));
                if self.known.contains_key(&key) || fresh.contains_key(&key) {
                    continue;
                }
                if let Some(value) = self.evaluated(key.0, key.1) {
                    self.known.insert(key, value);
                } else {
                    fresh.insert(key, asked.len());
                    asked.push(key);
                    seen.push(own);
                }
            }
            rows.push(row);
        }
        if self.known.len() + asked.len() > MOST_CLAIMS {
            return Reject::because("the plan needs more claims than the security level allows");
        }
        let (values, functionals) = (self.values, &self.functionals);
        let given = channel.scalars(label, asked.len(), || {
            seen.par_iter()
                .map(|&(base, weights)| functionals[weights].apply(&values[base]))
                .collect()
        })?;
        for (key, value) in asked.into_iter().zip(given) {
            self.known.insert(key, value);
            let claim = Claim {
                base: key.0,
                weights: key.1,
                value,
            };
            match plan.bases[key.0] {
                Base::Product { .. } => self.products.push_back(claim),
                _ => self.openings.push(claim),
            }
        }
        let sum = |row: &Vec<(F, usize, usize)>| {
            row.iter().fold(E::ZERO, |sum, &(coefficient, base, weights)| {
                sum + self.known[&(base, weights)] * coefficient
            })
        };
        Ok(rows.iter().map(sum).collect())
    }

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
    fn reduce_dense(&mut self, channel: &mut Channel, claim: Claim) -> Result<Claim, Reject> {
        let shape = self.plan.bases[claim.base].shape();
        let tables = self.proving.then(|| {
            let (places, size) = padded_places(shape);
            let mut tables = [vec![E::ZERO; size], vec![E::ZERO; size]];
            self.functionals[claim.weights].add_to(shape, E::ONE, &mut tables[0]);
            for (&place, &value) in places.iter().zip(&self.values[claim.base]) {
                tables[1][place] = value.into();
            }
            tables
        });
        let reduced = sumcheck::<2, 2>(
            channel,
            "dense",
            variables(shape),
            claim.value,
            tables,
            |[w, x]| *w * *x,
        )?;
        let given = channel.scalars("dense.value", 1, || {
            vec![reduced.tables.as_ref().expect("proving")[1][0]]
        })?;
        let weight = self.functionals[claim.weights].extension(shape, &reduced.point);
        if !self.proving && weight * given[0] != reduced.claim {
            return Reject::because("a claim on a product does not hold");
        }
        let weights = self.weights(Functional::point(shape, &reduced.point));
        Ok(Claim {
            base: claim.base,
            weights,
            value: given[0],
        })
    }

    /// Thaler's reduction: letters of one operand are summed with their weights first, a sumcheck runs over the others.
    fn reduce_product(&mut self, channel: &mut Channel, claim: Claim) -> Result<(), Reject> {
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
        let own = |letters: &[u8], form: &Form| -> Vec<Option<Vec<E>>> {
            let vector = |(&letter, &extent): (&u8, &usize)| {
                (!kept.contains(&letter)).then(|| weight(letter).unwrap_or_else(|| vec![E::ONE; extent]))
            };
            letters.iter().zip(&form.shape).map(vector).collect()
        };
        let (weights_x, weights_y) = (own(of_x, x), own(of_y, y));
        let batch_axes: Vec<Vec<E>> = kept
            .iter()
            .zip(&shape)
            .map(|(&letter, &extent)| weight(letter).unwrap_or_else(|| vec![E::ONE; extent]))
            .collect();
        let batch_weights = Functional::Axes {
            scale,
            axes: batch_axes,
        };
        let operands = self.proving.then(|| {
            let side = |letters: &[u8], form: usize, weights: &[Option<Vec<E>>]| {
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
            let reduced =
                sumcheck::<2, 2>(channel, "product", rounds, claim.value, tables, |[x, y]| *x * *y)?;
            (reduced.claim, reduced.point)
        } else {
            let tables = operands.map(|(x, y)| {
                let mut weights = vec![E::ZERO; x.len()];
                batch_weights.add_to(&shape, E::ONE, &mut weights);
                [weights, x, y]
            });
            let reduced = sumcheck::<3, 3>(channel, "product", rounds, claim.value, tables, |[w, x, y]| {
                *w * *x * *y
            })?;
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
        let functional = |letters: &[u8], weights: Vec<Option<Vec<E>>>| {
            let axis = |(&letter, vector): (&u8, Option<Vec<E>>)| {
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
        if !self.proving && factor * found[0] * found[1] != expected {
            return Reject::because("a claim on a product does not hold");
        }
        Ok(())
    }

    /// The extension over a whole commitment, at a point, of claims' weights times factors, each at its column's place.
    pub fn opening_weight(&self, claims: &[(&Claim, E)], point: &[E]) -> E {
        let mut known: HashMap<&[usize], Functional> = HashMap::new();
        let mut sum = E::ZERO;
        for (claim, factor) in claims {
            let Base::Column { offset, shape, .. } = &self.plan.bases[claim.base] else {
                unreachable!()
            };
            let (low, high) = point.split_at(variables(shape));
            let at = known
                .entry(shape)
                .or_insert_with(|| Functional::point(shape, low));
            let place = super::multilinear::equality_at(high, offset >> low.len());
            sum += *factor * place * self.functionals[claim.weights].against(at);
        }
        sum
    }
}

/// The values of a form's elements, in row-major order.
pub fn form_values(plan: &Plan, values: &Values, form: usize) -> Vec<F> {
    let form = &plan.forms[form];
    let mut made = vec![F::ZERO; form.shape.iter().product()];
    for term in &form.terms {
        let own = &values[term.base];
        let mut moved: Option<Vec<F>> = None;
        let (last, rest) = match term.path.split_first() {
            Some((&(view, false), rest)) => (Some(&plan.views[view]), rest),
            _ => (None, term.path.as_slice()),
        };
        for &(view, sums) in rest.iter().rev() {
            let from = moved.as_ref().unwrap_or(own);
            let view = &plan.views[view];
            moved = Some(if sums {
                view.scatter(from)
            } else {
                view.gather(from)
            });
        }
        let from = moved.as_ref().unwrap_or(own);
        if let Some(view) = last {
            view.add_gathered(from, term.coefficient, &mut made);
            continue;
        }
        for (sum, &value) in made.iter_mut().zip(from) {
            *sum = *sum + value * term.coefficient;
        }
    }
    made
}

/// Sums over the axes that have weights; the others are the kept letters, of a table padded to powers of two.
fn contract(
    values: &[F],
    letters: &[u8],
    extents: &[usize],
    weights: &[Option<Vec<E>>],
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
        let mut sums = vec![ExtensionSum::default(); size];
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
        sums.into_iter().map(ExtensionSum::value).collect::<Vec<E>>()
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

/// eq(point, .) of the elements of a vector.
pub fn vector_weights(point: &[E], size: usize) -> Vec<E> {
    let mut table = equality(point);
    table.truncate(size);
    table
}
