//! Plans as they are written down: records of what they are made of.

#![warn(missing_docs)]

use std::sync::OnceLock;

use crate::domain::Use;
use crate::errors::PlanError;
use crate::field::F;
use crate::plan::{Base, Degree, Form, Lookup, Plan, Table, Term};
use crate::view::{Step, View};

/// A step's shape, and offsets and strides unless it only regroups.
pub type StepRecord = (Vec<usize>, Option<(Vec<i64>, Vec<Vec<i64>>)>);
/// A view's source and its steps.
pub type ViewRecord = (Vec<usize>, Vec<StepRecord>);
/// A term's coefficient, its base, and its path.
pub type TermRecord = (u64, usize, Vec<(usize, bool)>);
/// A form's shape and its terms.
pub type FormRecord = (Vec<usize>, Vec<TermRecord>);

/// All records of a plan. `openings` says of each list of ports, in zero knowledge, how often its root may be opened; None
/// of plans without.
pub struct Records {
    /// Of the extension that challenges are drawn from.
    pub degree: usize,
    /// The lists of ports, encoded, that all roots but the last are of.
    pub ports: Vec<Vec<u8>>,
    /// The variables of each commitment.
    pub commitments: Vec<usize>,
    /// The tensors that forms refer to.
    pub bases: Vec<Base>,
    /// The views that terms are seen along.
    pub views: Vec<ViewRecord>,
    /// All forms.
    pub forms: Vec<FormRecord>,
    /// Tables, keys and values, by number.
    pub lookups: Vec<(usize, usize, Option<usize>)>,
    /// Sizes, values, and forms of multiplicities.
    pub tables: Vec<(usize, Vec<F>, usize)>,
    /// The forms that are zero.
    pub zeros: Vec<usize>,
    /// How often roots may be opened.
    pub openings: Option<Vec<usize>>,
}

fn step((shape, affine): StepRecord) -> Step {
    match affine {
        None => Step::Regroup(shape),
        Some((offsets, strides)) => Step::Affine {
            shape,
            offsets,
            strides,
        },
    }
}

fn term((coefficient, base, path): TermRecord) -> Result<Term, PlanError> {
    let coefficient = F::canonical(coefficient).ok_or(PlanError::Coefficient)?;
    Ok(Term {
        coefficient,
        base,
        path,
    })
}

fn form((shape, terms): FormRecord) -> Result<Form, PlanError> {
    let terms = terms.into_iter().map(term).collect::<Result<_, _>>()?;
    Ok(Form { shape, terms })
}

impl Plan {
    /// The plan of these records; an error where they do not fit together.
    pub fn of(records: Records) -> Result<Self, PlanError> {
        let degree = match records.degree {
            2 => Degree::Two,
            3 => Degree::Three,
            degree => return Err(PlanError::Degree(degree)),
        };
        let view = |(source, steps): ViewRecord| View {
            source,
            steps: steps.into_iter().map(step).collect(),
        };
        let plan = Plan {
            degree,
            ports: records
                .ports
                .iter()
                .map(|list| Use::Ports.hash(&[list]))
                .collect(),
            commitments: records.commitments,
            bases: records.bases,
            views: records.views.into_iter().map(view).collect(),
            forms: records.forms.into_iter().map(form).collect::<Result<_, _>>()?,
            lookups: records
                .lookups
                .into_iter()
                .map(|(table, key, value)| Lookup { table, key, value })
                .collect(),
            tables: records
                .tables
                .into_iter()
                .map(|(size, values, column)| Table { size, values, column })
                .collect(),
            zeros: records.zeros,
            hidden: records.openings.is_some(),
            openings: records.openings.unwrap_or_default(),
            layout: OnceLock::new(),
        };
        plan.validate()?;
        Ok(plan)
    }
}
