//! BLAKE3 of many short inputs of one length: sixteen at once where there is AVX-512, eight by AVX2, else one by one.

use crate::domain::Use;
use crate::field::F;
use crate::instructions::{Instructions, Width};
use crate::merkle::{Digest, leaf_hash, leaf_salt, node_hash};
use compression::{Batch, Leaves, Nodes};
use output::Output;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod compression;
mod output;

/// Hashes as many inputs as fill vectors, from the first on; how many these are.
fn by_vectors(batch: &mut impl Batch, with: Instructions) -> usize {
    // SAFETY: `Instructions` are only made of what the processor has.
    unsafe {
        match with.width() {
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => avx512::run(batch),
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => avx2::run(batch),
            _ => 0,
        }
    }
}

/// The hashes of leaves of so many words each, salted where there is a secret; the first leaf is that of place `first`.
/// `carried` holds as much for each leaf, or nothing.
pub fn leaf_hashes(
    words: &[F],
    leaf: usize,
    carried: &[F],
    secret: Option<&[u8; 32]>,
    first: usize,
    hashes: &mut [Digest],
) {
    let leaves = Leaves {
        words,
        leaf,
        carried,
        secret,
        first,
        hashes,
    };
    hash_leaves(leaves, Instructions::chosen());
}

fn hash_leaves(mut leaves: Leaves, with: Instructions) {
    let beside = leaves.beside();
    let done = if leaves.fits() {
        by_vectors(&mut leaves, with)
    } else {
        0
    };
    let rest = leaves.words.chunks_exact(leaves.leaf).zip(leaves.hashes);
    for (i, (words, hash)) in rest.enumerate().skip(done) {
        let salt = leaves.secret.map(|secret| leaf_salt(secret, leaves.first + i));
        *hash = leaf_hash(
            words,
            &leaves.carried[beside * i..beside * (i + 1)],
            salt.as_ref(),
        );
    }
}

/// The hashes of pairs of nodes.
pub fn node_hashes(below: &[Digest], hashes: &mut [Digest]) {
    hash_nodes(below, hashes, Instructions::chosen());
}

fn hash_nodes(below: &[Digest], hashes: &mut [Digest], with: Instructions) {
    let done = by_vectors(&mut Nodes::new(below, hashes), with);
    let rest = below.chunks_exact(2).zip(hashes);
    for (pair, hash) in rest.skip(done) {
        *hash = node_hash(&pair[0], &pair[1]);
    }
}

/// Blocks of the output of a hash of at most 64 bytes, from block `first` on.
pub fn output_blocks(of: Use, input: &[u8], first: usize, blocks: &mut [[Digest; 2]]) {
    hash_output(of, input, first, blocks, Instructions::chosen());
}

fn hash_output(of: Use, input: &[u8], first: usize, blocks: &mut [[Digest; 2]], with: Instructions) {
    let done = by_vectors(&mut Output::new(of, input, first, blocks), with);
    let mut reader = of.hasher().update(input).finalize_xof();
    reader.set_position(64 * (first + done) as u64);
    reader.fill(blocks[done..].as_flattened_mut().as_flattened_mut());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_by_vectors_are_those_of_the_reference() {
        for input in [&[][..], &[1; 37], &[2; 64]] {
            for (first, count) in [(0, 1), (3, 16), ((1 << 32) - 9, 41)] {
                let mut plain = vec![0; 64 * count];
                let mut reader = Use::Random.hasher().update(input).finalize_xof();
                reader.set_position(64 * first as u64);
                reader.fill(&mut plain);
                for with in Instructions::available() {
                    let mut blocks = vec![[[0; 32]; 2]; count];
                    hash_output(Use::Random, input, first, &mut blocks, with);
                    assert_eq!(blocks.as_flattened().as_flattened(), plain, "{with:?}");
                }
            }
        }
    }

    #[test]
    fn leaves_by_vectors_are_those_of_the_reference_one_by_one() {
        let words: Vec<F> = (0..64 * 41u64)
            .map(|i| F::reduced((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        for secret in [None, Some([7; 32]), Some(std::array::from_fn(|i| 3 * i as u8))] {
            for (leaf, beside) in [
                (8, 0),
                (16, 0),
                (32, 0),
                (64, 0),
                (3, 0),
                (4, 0),
                (6, 0),
                (2, 0),
                (2, 2),
                (4, 3),
                (8, 2),
                (16, 2),
                (48, 3),
                (7, 0),
            ] {
                for (count, first) in [(1, 0), (8, 5), (41, (1usize << 32) - 19)] {
                    let carried = &words[words.len() - count * beside..];
                    let words = &words[..count * leaf];
                    let salts = (first..).map(|place| secret.map(|secret| leaf_salt(&secret, place)));
                    let plain: Vec<Digest> = words
                        .chunks_exact(leaf)
                        .zip(salts)
                        .enumerate()
                        .map(|(i, (words, salt))| {
                            leaf_hash(words, &carried[beside * i..beside * (i + 1)], salt.as_ref())
                        })
                        .collect();
                    for with in Instructions::available() {
                        let mut hashes = vec![[0; 32]; count];
                        let leaves = Leaves {
                            words,
                            leaf,
                            carried,
                            secret: secret.as_ref(),
                            first,
                            hashes: &mut hashes,
                        };
                        hash_leaves(leaves, with);
                        assert_eq!(hashes, plain, "{leaf} {beside} {with:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn nodes_by_vectors_are_those_of_the_reference_one_by_one() {
        let below: Vec<Digest> = (0..82)
            .map(|i| std::array::from_fn(|k| (i * 32 + k) as u8 ^ (i * i) as u8))
            .collect();
        let plain: Vec<Digest> = below
            .chunks_exact(2)
            .map(|pair| node_hash(&pair[0], &pair[1]))
            .collect();
        for with in Instructions::available() {
            for count in [0, 1, 8, 15, 16, 41] {
                let mut hashes = vec![[0; 32]; count];
                let below = &below[..2 * count];
                hash_nodes(below, &mut hashes, with);
                assert_eq!(hashes, plain[..count], "{with:?}");
            }
        }
    }
}
