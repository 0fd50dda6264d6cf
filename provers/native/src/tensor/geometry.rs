//! Sizes of proofs in zero knowledge: of each table and its domain, and of the vectors that an opening folds them into.

use super::plan::MOST_VARIABLES;
use super::whir::{FOLD, LEAST, QUERY_BITS, WIDTH, queries_at};

/// Up to so many points, in bits, a domain has a lower rate than 1/2: down to 1/4 of a table, since each has random words
/// for queries at its rate, and down to 1/16 of the last vector.
const SMALL: usize = 17;
const LOWEST: usize = 2;
const LOWEST_OF_LAST: usize = 4;
/// A root is made for at least one opening, and at most so many.
pub const MOST_OPENINGS: usize = 1 << 16;
/// Numbers that the four rounds of one fold send.
pub const CARRIED: usize = 2 * FOLD;

fn bits_for(size: usize) -> usize {
    size.next_power_of_two().trailing_zeros() as usize
}

/// What sizes follow from: the bits of soundness of the queries to one oracle, and the most elements of a last vector.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub query_bits: f64,
    pub last: usize,
}

/// The demand of every proof; only views of the prover for tests have another.
pub const SOUND: Demand = Demand {
    query_bits: QUERY_BITS,
    last: 1 << 10,
};

/// A table: what it holds, so many random words behind that, then zeros up to 2^bits; a domain of 2^(bits + rate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Where the random words begin, a multiple of a leaf's width.
    pub end: usize,
    pub random: usize,
    pub bits: usize,
    pub rate: usize,
    pub queries: usize,
}

impl Demand {
    /// Of a table that holds so many words and may be opened so often: each query takes a random word of every limb.
    pub fn table(&self, words: usize, openings: usize) -> Geometry {
        self.chosen(words.next_multiple_of(WIDTH), openings * WIDTH, LOWEST)
    }

    /// The lowest rate at which the domain is small; `each` random elements for a query.
    fn chosen(&self, end: usize, each: usize, lowest: usize) -> Geometry {
        let at = |rate: usize| {
            let queries = queries_at(rate, self.query_bits);
            Geometry {
                end,
                random: each * queries,
                bits: bits_for(end + each * queries).max(LEAST),
                rate,
                queries,
            }
        };
        let rates = (2..=lowest).rev().map(at);
        let mut small = rates.filter(|one| one.bits + one.rate <= SMALL);
        small.next().unwrap_or_else(|| at(1))
    }

    /// The last vector, whose leaves hold one of its elements.
    fn last(&self, end: usize) -> Geometry {
        self.chosen(end, 1, LOWEST_OF_LAST)
    }

    /// A vector that is folded again.
    fn folded(&self, end: usize, number: usize) -> Geometry {
        let rate = 1 + 2 * number;
        let queries = queries_at(rate, self.query_bits);
        let random = WIDTH * queries;
        Geometry {
            end,
            random,
            bits: bits_for(end + random),
            rate,
            queries,
        }
    }

    /// The vectors of an opening of these tables, the last of which carries pads; what it reveals ends them.
    pub fn vectors(&self, tables: &[Geometry]) -> Vec<Vector> {
        let folds: Vec<usize> = tables.iter().map(|table| table.bits - FOLD).collect();
        let queries = tables.last().expect("the proof's own table").queries;
        let mut made = vec![self.vector(&folds, queries, 1)];
        while let Some(last) = made.last().filter(|vector| !vector.last) {
            let Geometry { bits, queries, .. } = last.geometry;
            made.push(self.vector(&[bits - FOLD], queries, made.len() + 1));
        }
        made
    }

    fn vector(&self, folds: &[usize], queries: usize, number: usize) -> Vector {
        let mut sizes = folds.to_vec();
        sizes.push(bits_for(CARRIED + queries));
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(sizes[i]));
        let (mut offsets, mut end) = (vec![0; sizes.len()], 0);
        for i in order {
            offsets[i] = end;
            end += 1 << sizes[i];
        }
        let mut blocks: Vec<Block> = offsets
            .into_iter()
            .zip(sizes)
            .map(|(offset, bits)| Block { offset, bits })
            .collect();
        let carried = blocks.pop().expect("the block of carried pads");
        let last = end <= self.last;
        let geometry = if last {
            self.last(end)
        } else {
            self.folded(end.next_multiple_of(WIDTH), number)
        };
        Vector {
            folds: blocks,
            carried,
            geometry,
            last,
        }
    }
}

impl Geometry {
    pub fn domain(&self) -> usize {
        self.bits + self.rate
    }

    /// Leaves, in bits, where each holds 2^FOLD symbols.
    pub fn leaves(&self) -> usize {
        self.domain() - FOLD
    }

    pub fn fits(&self) -> bool {
        self.bits <= MOST_VARIABLES && self.domain() <= super::field::TWO_ADICITY
    }
}

/// A power of two of elements of a vector, at a multiple of its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    pub offset: usize,
    pub bits: usize,
}

/// A vector of an opening: the folds of what was before, the carried pads, and random elements.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Where each table's fold lies, or that of the vector before.
    pub folds: Vec<Block>,
    pub carried: Block,
    pub geometry: Geometry,
    /// Whether it is shown, under a mask, and folded no more.
    pub last: bool,
}

/// Whether every size is one that can be proved: domains exist, and carried pads are of a rate as low as their tree's.
pub fn fit(tables: &[Geometry], vectors: &[Vector]) -> bool {
    let own = tables.last().into_iter();
    let trees = own.chain(vectors.iter().map(|vector| &vector.geometry));
    let carried = trees
        .zip(vectors)
        .all(|(tree, vector)| vector.carried.bits + tree.rate <= tree.leaves());
    carried && tables.iter().all(Geometry::fits) && vectors.iter().all(|vector| vector.geometry.fits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_lowest_rate_at_which_they_are_small() {
        let small = SOUND.table(4096, 4);
        assert_eq!((small.bits, small.rate, small.queries), (14, 2, 157));
        let large = SOUND.table(1 << 20, 1);
        assert_eq!((large.bits, large.rate, large.queries), (21, 1, 256));
        assert_eq!(large.random, 16 * 256);
    }

    #[test]
    fn vectors_end_and_their_blocks_do_not_meet() {
        for words in [1, 300, 5000, 1 << 15, 1 << 20, 1 << 25] {
            let tables = [words, 2 * words, words / 2 + 1].map(|words| SOUND.table(words, 1));
            let made = SOUND.vectors(&tables);
            assert!(fit(&tables, &made));
            assert!(made.len() < 8 && made.last().unwrap().last);
            for vector in &made {
                let mut blocks: Vec<Block> = vector.folds.clone();
                blocks.push(vector.carried);
                blocks.sort_by_key(|block| block.offset);
                let mut end = 0;
                for block in blocks {
                    assert!(block.offset >= end && block.offset % (1 << block.bits) == 0);
                    end = block.offset + (1 << block.bits);
                }
                assert!(end <= vector.geometry.end);
                assert!(vector.geometry.end + vector.geometry.random <= 1 << vector.geometry.bits);
            }
        }
    }
}
