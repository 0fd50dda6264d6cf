//! What is proved, as flat records: tensors, affine forms of them, lookups, and forms that are zero.

use std::sync::OnceLock;

use crate::errors::{PlanError, Reject};
use crate::field::F;
use crate::geometry::{HIDDEN, LEAST, MOST_OPENINGS, PLAIN};
use crate::layout::Layout;
use crate::merkle::{Binding, Digest};
use crate::multilinear::bits_of;
use crate::view::View;

/// A tensor that forms refer to.
pub enum Base {
    /// Part of a commitment, at an offset, axes padded to powers of two.
    Column {
        commitment: usize,
        offset: usize,
        shape: Vec<usize>,
    },
    /// Values that the statement gives.
    Public { shape: Vec<usize> },
    /// Chosen rows of a committed tensor: y[b, ...] = x[index[b], ...] for the values of a public base, whose axes b are.
    Rows {
        shape: Vec<usize>,
        column: usize,
        index: usize,
    },
    /// Values that the program gives; one number stands for all elements.
    Constant { shape: Vec<usize>, values: Vec<F> },
    /// The sum of products of two forms, by the letters of their axes and of its own; never committed.
    Product {
        shape: Vec<usize>,
        letters: [Vec<u8>; 3],
        forms: [usize; 2],
    },
}

impl Base {
    pub fn shape(&self) -> &[usize] {
        match self {
            Base::Column { shape, .. }
            | Base::Public { shape }
            | Base::Rows { shape, .. }
            | Base::Constant { shape, .. }
            | Base::Product { shape, .. } => shape,
        }
    }
}

/// A coefficient times a base seen along a path: views outermost first, each to gather from or (true) to sum along.
pub struct Term {
    pub coefficient: F,
    pub base: usize,
    pub path: Vec<(usize, bool)>,
}

/// A sum of terms of one shape.
pub struct Form {
    pub shape: Vec<usize>,
    pub terms: Vec<Term>,
}

/// Every element of `key` (paired with that of `value`, where there is one) is an entry of the table.
pub struct Lookup {
    pub table: usize,
    pub key: usize,
    pub value: Option<usize>,
}

/// The keys 0 to size - 1, each with its value where there are values; `column` is the base of multiplicities.
pub struct Table {
    pub size: usize,
    pub values: Vec<F>,
    pub column: usize,
}

/// The variables of a tensor or a commitment, at most: sums over one stay within what is reduced at once.
pub const MOST_VARIABLES: usize = 29;

/// Where challenges lie: the extension of this degree.
#[derive(Clone, Copy)]
pub enum Degree {
    Two,
    Three,
}

/// A statement's structure; commitment c has 2^commitments[c] elements, the last one is made by the proof itself.
pub struct Plan {
    pub degree: Degree,
    /// For each commitment but the last a hash of the list of ports that it is of.
    pub ports: Vec<Digest>,
    pub commitments: Vec<usize>,
    pub bases: Vec<Base>,
    pub views: Vec<View>,
    pub forms: Vec<Form>,
    pub lookups: Vec<Lookup>,
    pub tables: Vec<Table>,
    pub zeros: Vec<usize>,
    /// In zero knowledge, for each commitment but the last, how often it may be opened in all; else nothing.
    pub openings: Vec<usize>,
    /// Whether proofs by this plan are in zero knowledge.
    pub hidden: bool,
    pub layout: OnceLock<Result<Layout, Reject>>,
}

/// The variables of a tensor whose axes are padded to powers of two.
pub fn variables(shape: &[usize]) -> usize {
    shape.iter().map(|&extent| bits_of(extent)).sum()
}

impl Plan {
    /// An error where records do not fit together; after this, indices and shapes may be trusted.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.hidden && self.openings.len() != self.ports.len() {
            return Err(PlanError::OpeningsGiven(self.openings.len()));
        }
        if let Some(&openings) = self
            .openings
            .iter()
            .find(|&&own| !(1..=MOST_OPENINGS).contains(&own))
        {
            return Err(PlanError::Openings(openings));
        }
        if self.ports.len() + 1 != self.commitments.len() {
            return Err(PlanError::Lists(self.ports.len()));
        }
        for (c, &bits) in self.commitments.iter().enumerate() {
            if !(LEAST..=MOST_VARIABLES).contains(&bits) {
                return Err(PlanError::Commitment {
                    number: c,
                    variables: bits,
                });
            }
        }
        for (b, base) in self.bases.iter().enumerate() {
            // Each extent first, so that neither sum nor product overflows.
            let small = |&extent: &usize| (1..=1 << MOST_VARIABLES).contains(&extent);
            if !base.shape().iter().all(small) || variables(base.shape()) > MOST_VARIABLES {
                return Err(PlanError::Shape {
                    base: b,
                    shape: base.shape().to_vec(),
                });
            }
            let size: usize = base.shape().iter().product();
            let fits = match base {
                Base::Column {
                    commitment,
                    offset,
                    shape,
                } => self.commitments.get(*commitment).is_some_and(|&bits| {
                    let own = 1 << variables(shape);
                    let end = offset.checked_add(own);
                    offset % own == 0 && end.is_some_and(|end| end <= 1 << bits)
                }),
                Base::Public { .. } => true,
                Base::Rows { shape, column, index } => self.rows_fit(shape, *column, *index),
                Base::Constant { values, .. } => values.len() == 1 || values.len() == size,
                Base::Product {
                    shape,
                    letters,
                    forms,
                } => self.product_fits(b, shape, letters, forms),
            };
            if !fits {
                return Err(PlanError::Base(b));
            }
        }
        for (f, form) in self.forms.iter().enumerate() {
            for term in &form.terms {
                let Some(base) = self.bases.get(term.base) else {
                    return Err(PlanError::Form(f));
                };
                let mut shape = base.shape();
                for &(view, sums) in term.path.iter().rev() {
                    let Some(view) = self.views.get(view) else {
                        return Err(PlanError::Form(f));
                    };
                    let (from, to) = if sums {
                        (view.target(), view.source.as_slice())
                    } else {
                        (view.source.as_slice(), view.target())
                    };
                    if shape != from {
                        return Err(PlanError::Form(f));
                    }
                    shape = to;
                }
                if shape != form.shape {
                    return Err(PlanError::Form(f));
                }
            }
        }
        for (l, lookup) in self.lookups.iter().enumerate() {
            let valued = self
                .tables
                .get(lookup.table)
                .map(|table| !table.values.is_empty());
            let shape = self.forms.get(lookup.key).map(|form| &form.shape);
            let paired = match lookup.value {
                None => true,
                Some(value) => shape.is_some() && self.forms.get(value).map(|form| &form.shape) == shape,
            };
            if shape.is_none() || !paired || valued != Some(lookup.value.is_some()) {
                return Err(PlanError::Lookup(l));
            }
        }
        for (t, table) in self.tables.iter().enumerate() {
            let column = self
                .forms
                .get(table.column)
                .is_some_and(|form| form.shape == [table.size]);
            if !column || !(table.values.is_empty() || table.values.len() == table.size) {
                return Err(PlanError::Table(t));
            }
        }
        match self.zeros.iter().all(|&form| form < self.forms.len()) {
            true => Ok(()),
            false => Err(PlanError::Zeros),
        }
    }

    /// The sizes of a proof.
    pub fn layout(&self) -> Result<&Layout, Reject> {
        let demand = if self.hidden { &HIDDEN } else { &PLAIN };
        let made = self.layout.get_or_init(|| Layout::of(self, demand));
        made.as_ref().map_err(Clone::clone)
    }

    /// Where the columns of a commitment end.
    pub fn end(&self, wanted: usize) -> usize {
        let end = |base: &Base| match base {
            Base::Column {
                commitment,
                offset,
                shape,
            } if *commitment == wanted => offset + (1 << variables(shape)),
            _ => 0,
        };
        self.bases.iter().map(end).max().unwrap_or(0)
    }

    /// What the root of each commitment binds.
    pub fn bindings(&self) -> Vec<Binding<'_>> {
        let given = self.ports.iter().map(Binding::Ports);
        given.chain([Binding::Columns]).collect()
    }

    fn rows_fit(&self, shape: &[usize], column: usize, index: usize) -> bool {
        let (Some(Base::Column { shape: from, .. }), Some(Base::Public { shape: which })) =
            (self.bases.get(column), self.bases.get(index))
        else {
            return false;
        };
        let places = which.len();
        (1..=shape.len()).contains(&places)
            && !from.is_empty()
            && shape[places..] == from[1..]
            && which == &shape[..places]
    }

    /// Whether letters and extents are those of the forms, which are of bases before the product.
    fn product_fits(&self, base: usize, shape: &[usize], letters: &[Vec<u8>; 3], forms: &[usize; 2]) -> bool {
        let before = |form: &usize| {
            let form = self.forms.get(*form);
            form.is_some_and(|form| form.terms.iter().all(|term| term.base < base))
        };
        if !forms.iter().all(before) {
            return false;
        }
        let mut extents = [0usize; 256];
        for (own, &form) in letters.iter().zip(forms) {
            let Some(form) = self.forms.get(form).filter(|form| form.shape.len() == own.len()) else {
                return false;
            };
            for (&letter, &extent) in own.iter().zip(&form.shape) {
                let known = &mut extents[letter as usize];
                if *known != 0 && *known != extent {
                    return false;
                }
                *known = extent;
            }
        }
        let distinct = |own: &[u8]| (1..own.len()).all(|i| !own[..i].contains(&own[i]));
        letters.iter().all(|own| distinct(own))
            && letters[2].len() == shape.len()
            && letters[2]
                .iter()
                .zip(shape)
                .all(|(&letter, &extent)| extents[letter as usize] == extent)
    }

    /// The fractions' tree: for each lookup, then each table, its offset among the leaves; and the tree's depth.
    pub fn leaves(&self) -> (Vec<usize>, usize) {
        let bits: Vec<usize> = self
            .lookups
            .iter()
            .map(|lookup| variables(&self.forms[lookup.key].shape))
            .chain(self.tables.iter().map(|table| bits_of(table.size)))
            .collect();
        let mut order: Vec<usize> = (0..bits.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(bits[i]));
        let mut offsets = vec![0; bits.len()];
        let mut end = 0;
        for i in order {
            offsets[i] = end;
            end += 1 << bits[i];
        }
        (offsets, bits_of(end.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Records;

    /// Why there is no plan of one column.
    fn refused(shape: &[usize], offset: usize) -> Option<PlanError> {
        let records = Records {
            degree: 2,
            ports: Vec::new(),
            commitments: vec![LEAST],
            bases: vec![Base::Column {
                commitment: 0,
                offset,
                shape: shape.to_vec(),
            }],
            views: Vec::new(),
            forms: Vec::new(),
            lookups: Vec::new(),
            tables: Vec::new(),
            zeros: Vec::new(),
            openings: None,
        };
        Plan::of(records).err()
    }

    #[test]
    fn columns_lie_within_their_commitment_whatever_the_numbers() {
        let end = 1 << LEAST;
        assert_eq!(refused(&[4], end - 4), None);
        // The last wraps around: offset + 4 is 0.
        for offset in [end, end - 2, usize::MAX, usize::MAX - 3] {
            assert_eq!(refused(&[4], offset), Some(PlanError::Base(0)), "{offset}");
        }
        let half = 1 << (usize::BITS / 2);
        for shape in [
            &[0][..],
            &[usize::MAX],
            &[half, half],
            &[half + 1, half + 1],
            &[1 << 30],
        ] {
            let shape = shape.to_vec();
            assert_eq!(refused(&shape, 0), Some(PlanError::Shape { base: 0, shape }));
        }
    }
}
