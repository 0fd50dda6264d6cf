//! Claims on weighted sums of forms, reduced to claims on committed columns: (commitment, weights, value), opened last.

use std::collections::{HashMap, VecDeque};

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

pub struct Claim<V> {
    pub base: usize,
    pub weights: usize,
    pub value: V,
}

/// Every claim made so far, and what is still to be shown of them.
pub struct Claims<'a, E: Extension, C: Checks<E>> {
    pub(crate) plan: &'a Plan,
    pub(crate) values: &'a Values,
    pub(crate) checks: C,
    pub functionals: Vec<Functional<E>>,
    moved: HashMap<(usize, usize, bool), usize>,
    scattered: HashMap<(usize, usize), usize>,
    known: HashMap<(usize, usize), C::Value>,
    pub(crate) products: VecDeque<Claim<C::Value>>,
    pub openings: Vec<Claim<C::Value>>,
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
            products: VecDeque::new(),
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
    fn evaluated(&self, base: usize, weights: usize) -> Option<E> {
        if C::COUNTING {
            let known = matches!(self.plan.bases[base], Base::Public { .. } | Base::Constant { .. });
            return known.then_some(E::ZERO);
        }
        let functional = &self.functionals[weights];
        match &self.plan.bases[base] {
            Base::Public { .. } => Some(functional.apply(&self.values[base])),
            Base::Constant { values, .. } if values.len() == 1 => Some(match functional {
                Functional::Axes { scale, axes } => axes
                    .iter()
                    .fold(*scale * values[0], |product, axis| product * axis.sum()),
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
    ) -> Result<Vec<C::Value>, Reject> {
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
                    self.known.insert(key, value.into());
                } else {
                    fresh.insert(key, asked.len());
                    asked.push(key);
                    seen.push(own);
                }
            }
            rows.push(row);
        }
        if self.known.len() + asked.len() > E::MOST_CLAIMS {
            return Err(Reject::Claims);
        }
        let (values, functionals) = (self.values, &self.functionals);
        let given = self.checks.receive(channel, label, asked.len(), || {
            seen.par_iter()
                .map(|&(base, weights)| functionals[weights].apply(&values[base]))
                .collect()
        })?;
        for (key, value) in asked.into_iter().zip(given) {
            self.known.insert(key, value.clone());
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
            let zero = C::Value::from(E::ZERO);
            row.iter().fold(zero, |sum, &(coefficient, base, weights)| {
                sum + self.known[&(base, weights)].clone() * coefficient
            })
        };
        Ok(rows.iter().map(sum).collect())
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
