//! What follows from a plan before any proof: its tables' sizes, and how many pads hide what is sent.

use crate::channel::Channel;
use crate::claims::Values;
use crate::counting::{Counting, Counts};
use crate::cubic::Cubic;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::geometry::{Demand, Geometry, Vector, fit};
use crate::joint::Table;
use crate::merkle::{Binding, Digest};
use crate::plan::{Base, Degree, Plan};
use crate::protocol::reduced;
use crate::quadratic::Quadratic;

/// The sizes of a plan's tables and of the vectors that they are folded into; and the pads behind the last one's columns.
#[derive(Clone, Debug)]
pub struct Layout {
    pub tables: Vec<Geometry>,
    pub vectors: Vec<Vector>,
    /// Zero where nothing is hidden.
    pub counts: Counts,
    /// Where pads begin.
    pub pads: usize,
}

impl Layout {
    pub fn of(plan: &Plan, demand: &Demand) -> Result<Self, Reject> {
        // What is sent does not depend on where challenges lie; the greatest number of claims does.
        let (degree, counts) = match plan.degree {
            _ if !plan.hidden => (0, Counts::default()),
            Degree::Two => (2, counted::<Quadratic>(plan)?),
            Degree::Three => (3, counted::<Cubic>(plan)?),
        };
        let own = plan.commitments.len() - 1;
        let pads = plan.end(own);
        let mut tables: Vec<Geometry> = (0..own)
            .map(|c| demand.table(plan.end(c), plan.openings.get(c).copied().unwrap_or(0)))
            .collect();
        tables.push(demand.table(pads + degree * counts.pads(), 1));
        let vectors = demand.vectors(&tables);
        if !fit(&tables, &vectors) {
            return Err(Reject::Domains);
        }
        Ok(Self {
            tables,
            vectors,
            counts,
            pads,
        })
    }

    /// The tables behind all roots, as both sides know them.
    pub fn known<'a>(&self, bindings: &[Binding<'a>], roots: &[Digest]) -> Vec<Table<'a>> {
        let all = self.tables.iter().zip(bindings).zip(roots);
        let table = |((&geometry, &binding), &root)| Table {
            geometry,
            binding,
            root,
        };
        all.map(table).collect()
    }
}

/// What a plan sends, by a verifier of zeros, who is given the numbers of rows alone.
fn counted<E: Extension>(plan: &Plan) -> Result<Counts, Reject> {
    let mut zeros: Values = vec![Vec::new(); plan.bases.len()];
    for base in &plan.bases {
        if let Base::Rows { index, .. } = base {
            zeros[*index] = vec![F::ZERO; plan.bases[*index].shape().iter().product()];
        }
    }
    let mut channel = Channel::nothing();
    let claims = reduced::<E, _>(&mut channel, plan, &zeros, Counting::default(), None)?;
    Ok(claims.checks.0)
}
