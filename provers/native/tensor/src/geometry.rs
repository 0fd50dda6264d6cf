//! Sizes of proofs: of each table and its domain, and of the vectors that an opening folds them into.

use crate::plan::MOST_VARIABLES;

/// Variables per fold, at most; a leaf of a vector holds 2^FOLD symbols, and one of a table at most so many.
pub const FOLD: usize = 4;
/// The most symbols of a leaf.
pub const WIDTH: usize = 1 << FOLD;
/// The least number of variables of a table.
pub const LEAST: usize = 8;
/// Up to so many points, in bits, a domain is of rate 1/4: random words are for queries, of which a lower rate has fewer.
const SMALL: usize = 17;
/// Below so many points, in bits, a table's queries reach most of its leaves: a larger domain has more to open.
const SPARSE: usize = 13;
/// A root is made for at least one opening, and at most so many.
pub const MOST_OPENINGS: usize = 1 << 16;
/// Numbers that the four rounds of one fold send.
pub const CARRIED: usize = 2 * FOLD;

fn bits_for(size: usize) -> usize {
    size.next_power_of_two().trailing_zeros() as usize
}

/// Bits of so many queries at a rate: each misses a word outside the unique-decoding radius at most (1 + rate) / 2.
fn missed(rate: f64, queries: usize) -> f64 {
    queries as f64 * -((1.0 + rate) / 2.0).log2()
}

/// What sizes follow from: the bits of soundness of the queries to one oracle, the most elements of a last vector, and
/// whether anything is hidden.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub query_bits: f64,
    pub last: usize,
    pub hides: bool,
}

/// The demand of every proof in zero knowledge; only views of the prover for tests have another.
pub const HIDDEN: Demand = Demand {
    query_bits: 106.0,
    last: 3 << 10,
    hides: true,
};

/// That of a proof that hides nothing: rates are of powers of two.
pub const PLAIN: Demand = Demand {
    hides: false,
    ..HIDDEN
};

/// A table: what it holds, so many random words behind that, then zeros up to 2^bits; a domain of 2^(bits + rate), in leaves
/// of 2^fold. Where it hides, it is of a lower rate than 2^-rate: its polynomials have no more coefficients than these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Where the random words begin, a multiple of a leaf's width.
    pub end: usize,
    pub random: usize,
    pub fold: usize,
    pub bits: usize,
    pub rate: usize,
    pub queries: usize,
}

impl Demand {
    /// Of a table that holds so many words and may be opened so often: each query takes a random word of every limb. Where
    /// nothing is hidden it has none, and may be opened any number of times. Of leaves that make one tree it has the least.
    pub fn table(&self, words: usize, openings: usize) -> Geometry {
        let end = words.next_multiple_of(WIDTH);
        if !self.hides {
            return self.chosen(end, 0, FOLD, SPARSE);
        }
        let widest = self.chosen(end, openings, FOLD, SPARSE);
        let narrower = |fold: usize| self.sized(end, openings, fold, widest.bits + fold - FOLD, widest.rate);
        (1..FOLD).find_map(narrower).unwrap_or(widest)
    }

    /// On a domain of 2^(bits + rate), with leaves of 2^fold and so many random words of each limb for a query: as few queries
    /// as are enough. None where not all that takes lies before 2^bits.
    fn sized(&self, end: usize, openings: usize, fold: usize, bits: usize, rate: usize) -> Option<Geometry> {
        let domain = (1u64 << (bits + rate)) as f64;
        let asked = |queries: usize| Geometry {
            end,
            random: (openings * queries) << fold,
            fold,
            bits,
            rate,
            queries,
        };
        let enough = |own: &Geometry| {
            let length = if self.hides { own.length() } else { 1 << bits };
            missed(length as f64 / domain, own.queries) >= self.query_bits
        };
        let fits = |own: &Geometry| !self.hides || own.length() <= 1 << bits;
        (1..).map(asked).take_while(fits).find(enough)
    }

    /// The smallest on a domain of so many times as many points.
    fn least(&self, end: usize, openings: usize, fold: usize, rate: usize) -> Geometry {
        let sized = |bits: usize| self.sized(end, openings, fold, bits, rate);
        let found = (LEAST.max(bits_for(end))..).find_map(sized);
        found.expect("a size is large enough")
    }

    /// Of rate 1/4 or less where the domain is then small, but not too small, else 1/2.
    fn chosen(&self, end: usize, openings: usize, fold: usize, sparse: usize) -> Geometry {
        let low = self.least(end, openings, fold, 2);
        if (sparse..=SMALL).contains(&low.domain()) {
            low
        } else {
            self.least(end, openings, fold, 1)
        }
    }

    /// The last vector: leaves that hold one of its elements; or, where nothing is hidden, none, since it is sent.
    fn last(&self, end: usize) -> Geometry {
        if self.hides {
            return self.chosen(end, 1, 0, 0);
        }
        Geometry {
            end,
            random: 0,
            fold: 0,
            bits: bits_for(end),
            rate: 0,
            queries: 0,
        }
    }

    /// A vector that is folded again: number 1, 2, ... of rate 1/4, 1/8, ... or less, so that domains shrink.
    fn folded(&self, end: usize, number: usize) -> Geometry {
        self.least(end, usize::from(self.hides), FOLD, 1 + number)
    }

    /// How many elements the fold of a table, or of a vector, has.
    fn folds_to(&self, of: &Geometry) -> usize {
        if self.hides {
            of.length() >> of.fold
        } else {
            1 << (of.bits - of.fold)
        }
    }

    /// The vectors of an opening of these tables, the last of which carries pads where it hides; what is shown ends them.
    pub fn vectors(&self, tables: &[Geometry]) -> Vec<Vector> {
        let queries = tables.last().expect("the proof's own table").queries;
        let mut made = vec![self.vector(tables, queries, 1)];
        while let Some(last) = made.last().filter(|vector| !vector.last) {
            let geometry = last.geometry;
            made.push(self.vector(&[geometry], geometry.queries, made.len() + 1));
        }
        made
    }

    fn vector(&self, sources: &[Geometry], queries: usize, number: usize) -> Vector {
        let mut lengths: Vec<usize> = sources.iter().map(|source| self.folds_to(source)).collect();
        if self.hides {
            lengths.push(CARRIED + queries);
        }
        let mut blocks: Vec<Block> = lengths.into_iter().map(Block::of).collect();
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(blocks[i].bits));
        let mut end = 0usize;
        for i in order {
            let block = &mut blocks[i];
            block.offset = end.next_multiple_of(1 << block.bits);
            end = block.offset + block.length;
        }
        let carried = if self.hides { blocks.pop() } else { None };
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

    /// Leaves, in bits.
    pub fn leaves(&self) -> usize {
        self.domain() - self.fold
    }

    /// Symbols of a leaf.
    pub fn width(&self) -> usize {
        1 << self.fold
    }

    /// The coefficients of its polynomials, where it hides: of a limb no fewer than pads carried beside it, one for each query
    /// and CARRIED.
    pub fn length(&self) -> usize {
        self.end.max(CARRIED << self.fold) + self.random
    }

    pub fn fits(&self) -> bool {
        self.bits <= MOST_VARIABLES && self.domain() <= super::field::TWO_ADICITY
    }
}

/// The first of 2^bits elements of a vector, at a multiple of so many, the least power of two that is enough; behind them
/// another block may begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    pub offset: usize,
    pub bits: usize,
    pub length: usize,
}

impl Block {
    /// Of so many elements, before its place is known.
    fn of(length: usize) -> Self {
        Self {
            offset: 0,
            bits: bits_for(length),
            length,
        }
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.length
    }
}

/// A vector of an opening: the folds of what was before; in zero knowledge, carried pads and random elements too.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Where each table's fold lies, or that of the vector before.
    pub folds: Vec<Block>,
    /// Where the carried pads do, of a proof that hides.
    pub carried: Option<Block>,
    pub geometry: Geometry,
    /// Whether it is shown, and folded no more: under a mask, or where nothing is hidden as it is.
    pub last: bool,
}

impl Vector {
    pub fn hides(&self) -> bool {
        self.carried.is_some()
    }

    /// Whether it is sent, and not committed to.
    pub fn is_sent(&self) -> bool {
        self.last && !self.hides()
    }
}

/// Whether every size is one that can be proved: domains exist, and carried pads are of a rate as low as their tree's.
pub fn fit(tables: &[Geometry], vectors: &[Vector]) -> bool {
    let own = tables.last().into_iter();
    let trees = own.chain(vectors.iter().map(|vector| &vector.geometry));
    let carried = trees.zip(vectors).all(|(tree, vector)| {
        let fits = |block: Block| block.length << tree.fold <= tree.length();
        vector.carried.is_none_or(fits)
    });
    carried && tables.iter().all(Geometry::fits) && vectors.iter().all(|vector| vector.geometry.fits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_have_rate_a_quarter() {
        let sizes = |one: Geometry| (one.bits, one.rate, one.queries, one.random);
        assert_eq!(sizes(HIDDEN.table(4096, 4)), (14, 2, 145, 4 * 16 * 145));
        assert_eq!(sizes(HIDDEN.table(1 << 20, 1)), (21, 1, 157, 16 * 157));
        assert_eq!(sizes(PLAIN.table(1 << 10, 4)), (10, 1, 256, 0));
        assert_eq!(sizes(PLAIN.table((1 << 10) + 1, 4)), (11, 2, 157, 0));
        assert_eq!(sizes(PLAIN.table(1 << 15, 4)), (15, 2, 157, 0));
        assert_eq!(sizes(PLAIN.table((1 << 15) + 1, 4)), (16, 1, 256, 0));
    }

    #[test]
    fn leaves_are_as_narrow_as_makes_no_larger_tree() {
        let sizes = |words: usize, openings: usize| {
            let one = HIDDEN.table(words, openings);
            (one.fold, one.bits, one.random, one.leaves())
        };
        assert_eq!(sizes(2608, 4), (3, 13, 4 * 8 * 151, 12));
        for words in (1..40_000).step_by(97) {
            for openings in [1, 4, 40] {
                let (fold, bits, random, leaves) = sizes(words, openings);
                let end = words.next_multiple_of(WIDTH);
                let widest = HIDDEN.chosen(end, openings, FOLD, SPARSE);
                assert_eq!(leaves, widest.leaves());
                assert!(end + random <= 1 << bits && (1..=FOLD).contains(&fold));
                let narrower = HIDDEN.sized(end, openings, fold - 1, bits - 1, widest.rate);
                assert!(fold == 1 || narrower.is_none());
                assert_eq!(PLAIN.table(words, openings).fold, FOLD);
            }
        }
    }

    #[test]
    fn a_vector_is_sent_where_it_hides_nothing_and_is_short() {
        let vectors = |words: usize| PLAIN.vectors(&[PLAIN.table(words, 0)]);
        let (short, long) = (vectors(1 << 15), vectors(1 << 16));
        assert!(short[0].is_sent() && short[0].geometry.end == 1 << 11);
        assert!(!long[0].is_sent() && long[1].is_sent());
        assert_eq!((long[0].geometry.rate, long[0].geometry.queries), (2, 157));
        assert!(
            HIDDEN
                .vectors(&[HIDDEN.table(1, 1)])
                .iter()
                .all(|one| !one.is_sent())
        );
    }

    #[test]
    fn vectors_end_and_their_blocks_do_not_meet() {
        let sizes = [1, 300, 5000, 1 << 15, 1 << 20, 1 << 25];
        // Roots for 17 and 33 openings fill less than half of their tables, if they are of little.
        let demands = [(PLAIN, 1), (HIDDEN, 1), (HIDDEN, 17), (HIDDEN, 33)];
        for (words, (demand, openings)) in sizes
            .into_iter()
            .flat_map(|words| demands.map(|demand| (words, demand)))
        {
            let tables = [(words, 1), (2 * words, openings), (words / 2 + 1, 1)]
                .map(|(words, most)| demand.table(words, most));
            let made = demand.vectors(&tables);
            assert!(fit(&tables, &made));
            assert!(made.len() < 8 && made.last().unwrap().last);
            for vector in &made {
                let mut blocks: Vec<Block> = vector.folds.clone();
                blocks.extend(vector.carried);
                blocks.sort_by_key(|block| block.offset);
                let mut end = 0;
                for block in blocks {
                    assert!(block.offset >= end && block.offset % (1 << block.bits) == 0);
                    assert!(block.length <= 1 << block.bits);
                    assert!(block.offset + (1 << block.bits) <= 1 << vector.geometry.bits);
                    end = block.range().end;
                }
                assert!(end <= vector.geometry.end);
                assert!(vector.geometry.end + vector.geometry.random <= 1 << vector.geometry.bits);
            }
        }
    }
}
