//! The letters of a product: which a sumcheck runs over, and which are summed with their weights before.

use crate::axis::Axis;
use crate::extension::Extension;
use crate::plan::{Base, Plan};

/// Of a product z of forms x and y.
pub struct Letters<'a> {
    /// Those of x and of y.
    pub of: [&'a [u8]; 2],
    of_z: &'a [u8],
    pub forms: [usize; 2],
    extents: [&'a [usize]; 2],
    elements: usize,
    /// The letters that both operands have, those of z first; and their extents.
    pub kept: Vec<u8>,
    pub shape: Vec<usize>,
    /// How many of these z has.
    pub batch: usize,
    /// Whether x, y and z have the same letters.
    pub elementwise: bool,
}

impl<'a> Letters<'a> {
    pub fn of(plan: &'a Plan, base: usize) -> Self {
        let Base::Product {
            shape,
            letters,
            forms,
        } = &plan.bases[base]
        else {
            unreachable!("a product")
        };
        let [of_x, of_y, of_z] = [0, 1, 2].map(|side| letters[side].as_slice());
        let extents = forms.map(|form| plan.forms[form].shape.as_slice());
        let both = |letter: &u8| of_x.contains(letter) && of_y.contains(letter);
        let mut kept: Vec<u8> = of_z.iter().copied().filter(both).collect();
        let batch = kept.len();
        kept.extend(
            of_x.iter()
                .filter(|letter| of_y.contains(letter) && !of_z.contains(letter)),
        );
        let extent = |letter: &u8| {
            extents[0][of_x
                .iter()
                .position(|own| own == letter)
                .expect("kept letters are in both")]
        };
        Self {
            of: [of_x, of_y],
            of_z,
            forms: *forms,
            extents,
            elements: shape.iter().product(),
            shape: kept.iter().map(extent).collect(),
            elementwise: [of_x, of_y, of_z].iter().all(|own| own.len() == batch),
            kept,
            batch,
        }
    }

    pub fn extents(&self, side: usize) -> Vec<usize> {
        self.extents[side].to_vec()
    }

    /// Whether both operands are the same.
    pub fn is_square(&self) -> bool {
        self.forms[0] == self.forms[1] && self.of[0] == self.of[1]
    }

    /// Whether so many weights are taken one by one: else they are first reduced to those of a point, which takes
    /// two tables of the product's size.
    pub fn is_summed_apart(&self, count: usize) -> bool {
        let operands: usize = self.extents.iter().map(|own| own.iter().product::<usize>()).sum();
        (count - 1).saturating_mul(operands) <= 4 * self.elements
    }

    /// The place of a kept letter.
    pub fn place(&self, letter: u8) -> usize {
        self.kept
            .iter()
            .position(|&own| own == letter)
            .expect("a letter of both")
    }

    fn weights<E: Extension>(&self, letter: u8, extent: usize, axes: &[Axis<E>]) -> Axis<E> {
        match self.of_z.iter().position(|&own| own == letter) {
            Some(place) => axes[place].clone(),
            None => vec![E::ONE; extent].into(),
        }
    }

    /// Of weights on z those of the letters that one operand alone has; None for the others.
    pub fn own<E: Extension>(&self, side: usize, axes: &[Axis<E>]) -> Vec<Option<Axis<E>>> {
        let letters = self.of[side].iter().zip(self.extents[side]);
        let own = |(&letter, &extent): (&u8, &usize)| {
            (!self.kept.contains(&letter)).then(|| self.weights(letter, extent, axes))
        };
        letters.map(own).collect()
    }

    /// Of weights on z those of the kept letters: 1 where z has not the letter.
    pub fn of_kept<E: Extension>(&self, axes: &[Axis<E>]) -> Vec<Axis<E>> {
        let letters = self.kept.iter().zip(&self.shape);
        letters
            .map(|(&letter, &extent)| self.weights(letter, extent, axes))
            .collect()
    }
}
