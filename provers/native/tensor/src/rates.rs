//! What this machine computes in a second with the code that makes proofs, all threads at work: to compare proofs with.

use std::time::{Duration, Instant};

use crate::field::F;
use crate::hashes::leaf_hashes;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Work, run};

/// Products of elements, and compressions of BLAKE3, in a second.
pub struct Rates {
    pub products: f64,
    pub compressions: f64,
}

/// Elements that the nearest cache holds.
const ELEMENTS: usize = 1 << 11;
/// Leaves that are hashed at once, of words each, and the compressions that one takes: 144 bytes with its salt, and the
/// salt.
const LEAVES: usize = 1 << 11;
const WORDS: usize = 16;
const COMPRESSIONS: usize = 4;

/// Multiplies each element by one.
struct Multiplied<'a>(&'a mut [F], F);

impl Work for Multiplied<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        // SAFETY: whole vectors, which the processor has.
        unsafe {
            let factor = L::splat(self.1);
            for own in self.0.chunks_exact_mut(L::COUNT) {
                L::load(own.as_ptr()).mul(factor).store(own.as_mut_ptr());
            }
        }
    }
}

/// How often a second all threads together do their work, each in memory of its own.
fn repeated<T>(memory: impl Fn() -> T + Sync, work: impl Fn(&mut T) + Sync) -> f64 {
    const LEAST: Duration = Duration::from_millis(300);
    let own = |_: rayon::BroadcastContext| {
        let (mut memory, mut times) = (memory(), 0u32);
        let start = Instant::now();
        while start.elapsed() < LEAST {
            for _ in 0..16 {
                work(&mut memory);
            }
            times += 16;
        }
        f64::from(times) / start.elapsed().as_secs_f64()
    };
    rayon::broadcast(own).into_iter().sum()
}

impl Rates {
    pub fn measured() -> Self {
        let elements = || (1..=ELEMENTS as u64).map(F::reduced).collect::<Vec<F>>();
        let factor = F::reduced(0x9e37_79b9_7f4a_7c15);
        let multiplied = repeated(elements, |own| {
            run(Multiplied(own, factor), Instructions::chosen())
        });
        let leaves = || (vec![F::ONE; LEAVES * WORDS], vec![[0; 32]; LEAVES]);
        let hashed = repeated(leaves, |(words, hashes)| {
            leaf_hashes(words, WORDS, &[], Some(&[1; 32]), 0, hashes);
        });
        Self {
            products: multiplied * ELEMENTS as f64,
            compressions: hashed * (LEAVES * COMPRESSIONS) as f64,
        }
    }
}
