//! Claims on weighted sums of forms, reduced to claims on committed columns: (commitment, weights, value), opened last.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::channel::Channel;
use crate::checks::Checks;
use crate::errors::{Reject, ValuesError};
use crate::extension::Extension;
use crate::field::F;
use crate::functional::Functional;
use crate::plan::{Base, Plan};

/// The values of every base in row-major order: all of them for the prover, public ones for the verifier.
pub type Values = Vec<Vec<F>>;

/// Checks that values fit the plan's bases. A prover says which commitments are kept, and gives all but counts and what is
/// read by rows of those; a verifier gives none but public ones.
pub fn check_values(plan: &Plan, values: &Values, kept: Option<&[bool]>) -> Result<(), ValuesError> {
    if values.len() != plan.bases.len() {
        return Err(ValuesError::Arrays {
            found: values.len(),
            expected: plan.bases.len(),
        });
    }
    let counted: Vec<usize> = plan
        .tables
        .iter()
        .filter_map(|table| Some(plan.forms[table.column].terms.first()?.base))
        .collect();
    let read_by_rows = |place: usize, commitment: usize| {
        let reads = |base: &Base| matches!(base, Base::Rows { column, .. } if *column == place);
        kept.is_some_and(|kept| kept.get(commitment) == Some(&true)) && plan.bases.iter().any(reads)
    };
    let all = kept.is_some();
    for (place, (base, found)) in plan.bases.iter().zip(values).enumerate() {
        let size: usize = base.shape().iter().product();
        let optional = match base {
            Base::Public { .. } => false,
            Base::Column { commitment, .. } => {
                !all || counted.contains(&place) || read_by_rows(place, *commitment)
            }
            _ => !all,
        };
        if found.len() != size && !(optional && found.is_empty()) {
            return Err(ValuesError::Values {
                base: place,
                found: found.len(),
                expected: size,
            });
        }
    }
    for base in &plan.bases {
        if let Base::Rows { column, index, .. } = base {
            let extent = plan.bases[*column].shape()[0] as u64;
            if values[*index].iter().any(|row| row.word() >= extent) {
                return Err(ValuesError::Rows(extent));
            }
        }
    }
    Ok(())
}

/// Weights as a sum of others, by their numbers, each times a factor.
pub type Mix<E> = Vec<(E, usize)>;

/// A weighted sum of forms: factors, forms, and the numbers of weights on them.
pub type Sum<E> = Vec<(E, usize, usize)>;

pub struct Claim<E, V> {
    pub base: usize,
    pub weights: Mix<E>,
    pub value: V,
}

/// What one weighted sum of forms takes of one base.
struct Part<E> {
    base: usize,
    weights: Mix<E>,
    /// Where the prover reads it: rows of a column are a base of their own.
    read: Vec<(E, usize, usize)>,
}

/// The sum of weights that are themselves sums, each times a factor: every number once, in the order of first places.
pub fn mixed<'a, E: Extension>(parts: impl Iterator<Item = (E, &'a Mix<E>)>) -> Mix<E> {
    let (mut made, mut places) = (Mix::<E>::new(), HashMap::new());
    for (factor, part) in parts {
        for &(own, weights) in part {
            let place = *places.entry(weights).or_insert_with(|| {
                made.push((E::ZERO, weights));
                made.len() - 1
            });
            made[place].0 += factor * own;
        }
    }
    made
}

/// Every claim made so far, and what is still to be shown of them.
pub struct Claims<'a, E: Extension, C: Checks<E>> {
    pub(crate) plan: &'a Plan,
    pub(crate) values: &'a Values,
    pub(crate) checks: C,
    pub functionals: Vec<Functional<E>>,
    moved: HashMap<(usize, usize, bool), usize>,
    scattered: HashMap<(usize, usize), usize>,
    known: HashMap<(usize, usize), E>,
    count: usize,
    /// Claims on products, by their bases: each is of forms of bases before it.
    pub(crate) products: BTreeMap<usize, Vec<Claim<E, C::Value>>>,
    pub openings: Vec<Claim<E, C::Value>>,
}

impl<'a, E: Extension, C: Checks<E>> Claims<'a, E, C> {
    pub fn new(plan: &'a Plan, values: &'a Values, checks: C) -> Self {
        Self {
            plan,
            values,
            checks,
            functionals: Vec::new(),
            moved: HashMap::new(),
            scattered: HashMap::new(),
            known: HashMap::new(),
            count: 0,
            products: BTreeMap::new(),
            openings: Vec::new(),
        }
    }

    pub fn weights(&mut self, functional: Functional<E>) -> usize {
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
            let made = if sums {
                map.push(from, C::COUNTING)
            } else {
                map.pull(from, C::COUNTING)
            };
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
        let places = self.plan.bases[index].shape().len();
        let extent = self.plan.bases[column].shape()[0];
        let made = self.functionals[weights].scatter_rows(&rows, places, extent);
        let made = self.weights(made);
        self.scattered.insert((base, weights), made);
        (column, made)
    }

    /// The weighted sum of a base whose values both sides know.
    fn evaluated(&mut self, base: usize, weights: usize) -> Option<E> {
        if !matches!(self.plan.bases[base], Base::Public { .. } | Base::Constant { .. }) {
            return None;
        }
        if C::COUNTING {
            return Some(E::ZERO);
        }
        if let Some(&found) = self.known.get(&(base, weights)) {
            return Some(found);
        }
        let functional = &self.functionals[weights];
        let found = match &self.plan.bases[base] {
            Base::Constant { values, .. } if values.len() == 1 => functional.sum() * values[0],
            Base::Constant { shape, values } => functional.apply(shape, values),
            other => functional.apply(other.shape(), &self.values[base]),
        };
        self.known.insert((base, weights), found);
        Some(found)
    }

    /// What a sum of forms takes of each base that only the prover knows, in the order of first terms; and what it takes
    /// of all others.
    fn parts(&mut self, sum: &Sum<E>) -> (Vec<Part<E>>, E) {
        let plan = self.plan;
        let mut parts = Vec::<Part<E>>::new();
        let (mut places, mut known) = (HashMap::new(), HashMap::new());
        let mut constant = E::ZERO;
        for &(factor, form, weights) in sum {
            for term in &plan.forms[form].terms {
                let read = self.along(weights, &term.path);
                let (base, weights) = self.resolved(term.base, read);
                let factor = factor * term.coefficient;
                if let Some(value) = self.evaluated(base, weights) {
                    constant += factor * value;
                    continue;
                }
                let place = *places.entry(base).or_insert_with(|| {
                    parts.push(Part {
                        base,
                        weights: Mix::new(),
                        read: Vec::new(),
                    });
                    parts.len() - 1
                });
                let part = &mut parts[place];
                let own = *known.entry((base, weights)).or_insert_with(|| {
                    part.weights.push((E::ZERO, weights));
                    part.weights.len() - 1
                });
                part.weights[own].0 += factor;
                part.read.push((factor, term.base, read));
            }
        }
        (parts, constant)
    }

    /// Weighted sums of forms: one message gives, sum by sum, what each takes of every base that only the prover knows.
    pub fn settle(
        &mut self,
        channel: &mut Channel,
        label: &str,
        wanted: &[Sum<E>],
    ) -> Result<Vec<C::Value>, Reject> {
        let plan = self.plan;
        let (parts, constants): (Vec<_>, Vec<_>) = wanted.iter().map(|sum| self.parts(sum)).unzip();
        let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
        let parts: Vec<Part<E>> = parts.into_iter().flatten().collect();
        self.count += parts.len();
        if self.count > E::MOST_CLAIMS {
            return Err(Reject::Claims);
        }
        let (values, functionals) = (self.values, &self.functionals);
        let weighed = |&(factor, base, weights): &(E, usize, usize)| {
            functionals[weights].apply(plan.bases[base].shape(), &values[base]) * factor
        };
        let given = self.checks.receive(channel, label, parts.len(), || {
            let of = |part: &Part<E>| {
                let read = part.read.par_iter().with_min_len(4);
                read.map(weighed).reduce(|| E::ZERO, |x, y| x + y)
            };
            parts.par_iter().map(of).collect()
        })?;
        let (mut parts, mut given) = (parts.into_iter(), given.into_iter());
        let mut made = Vec::with_capacity(wanted.len());
        for (count, constant) in counts.into_iter().zip(constants) {
            let mut sum = C::Value::from(constant);
            for (part, value) in parts.by_ref().take(count).zip(given.by_ref()) {
                sum = sum + value.clone();
                let claim = Claim {
                    base: part.base,
                    weights: part.weights,
                    value,
                };
                match plan.bases[part.base] {
                    Base::Product { .. } => self.products.entry(part.base).or_default().push(claim),
                    _ => self.openings.push(claim),
                }
            }
            made.push(sum);
        }
        Ok(made)
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
