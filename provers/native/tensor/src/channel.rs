//! The one channel of every prover message: what is sent is absorbed, and challenges hash all that was.
//!
//! Prover and verifier run the same protocol code over it; the prover's side computes a message and writes it, the
//! verifier's side reads it. A proof is the messages and nothing else: no lengths, since the statement fixes them.

use crate::domain::Use;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::{F, P};

/// Sees each message by its label before it is absorbed, and may change its words; for tests that attack.
pub type Hook<'a> = dyn FnMut(&str, &mut Vec<u64>) -> Result<(), Reject> + Send + 'a;

enum Role<'a> {
    Prover {
        proof: Vec<u8>,
        hook: Option<Box<Hook<'a>>>,
    },
    Verifier {
        proof: &'a [u8],
        at: usize,
    },
    Nothing,
    Rehearsal(&'a mut Vec<Sent>),
}

/// A message by its label.
pub type Sent = (String, Vec<u64>);

pub struct Channel<'a> {
    state: [u8; 32],
    role: Role<'a>,
}

const ABSORB: u8 = 1;
const CHALLENGE: u8 = 2;
const EXPAND: u8 = 3;

impl<'a> Channel<'a> {
    pub fn prover(hook: Option<Box<Hook<'a>>>) -> Self {
        let role = Role::Prover {
            proof: Vec::new(),
            hook,
        };
        Self { state: [0; 32], role }
    }

    /// A verifier of a proof of zeros, however long it is: for what a plan sends.
    pub fn nothing() -> Self {
        let role = Role::Nothing;
        Self { state: [0; 32], role }
    }

    /// Notes what is sent, and draws challenges that do not depend on it: for tests of what hides a proof. There is no
    /// proof, and no verifier draws such challenges.
    pub fn rehearsal(challenges: [u8; 32], sent: &'a mut Vec<Sent>) -> Self {
        let role = Role::Rehearsal(sent);
        Self {
            state: challenges,
            role,
        }
    }

    pub fn verifier(proof: &'a [u8]) -> Self {
        let role = Role::Verifier { proof, at: 0 };
        Self { state: [0; 32], role }
    }

    /// Whether a test sees the prover's messages, and may change them.
    pub fn is_forged(&self) -> bool {
        matches!(&self.role, Role::Prover { hook: Some(_), .. })
    }

    /// state = H(state, tag, label, length, content).
    pub fn absorb(&mut self, label: &str, content: &[u8]) {
        if let Role::Rehearsal(_) = self.role {
            return;
        }
        let mut hasher = self.hasher(ABSORB, label);
        hasher.update(&(content.len() as u64).to_le_bytes());
        hasher.update(content);
        self.state = *hasher.finalize().as_bytes();
    }

    fn hasher(&self, tag: u8, label: &str) -> blake3::Hasher {
        let mut hasher = Use::Transcript.hasher();
        hasher.update(&self.state);
        hasher.update(&[tag, label.len() as u8]);
        hasher.update(label.as_bytes());
        hasher
    }

    /// Coordinates that are each 128 bits of a hash modulo p: within 2^-64, relatively, of uniform. The new state holds
    /// two of them; where there are more, the state is expanded, as it is for positions.
    pub fn challenge<E: Extension>(&mut self, label: &str) -> E {
        self.state = *self.hasher(CHALLENGE, label).finalize().as_bytes();
        let mut bytes = self.state.to_vec();
        for counter in 0..E::DEGREE.div_ceil(2) - 1 {
            bytes.extend(self.expanded(label, counter));
        }
        let coordinate = |bytes: &[u8]| {
            let wide = bytes
                .iter()
                .rev()
                .fold(0u128, |sum, &byte| sum << 8 | u128::from(byte));
            F::reduced((wide % u128::from(P)) as u64)
        };
        let found: Vec<F> = bytes.chunks_exact(16).map(coordinate).collect();
        E::of(&found[..E::DEGREE])
    }

    /// 32 bytes more of the state, by a counter.
    fn expanded(&self, label: &str, counter: usize) -> [u8; 32] {
        let mut hasher = self.hasher(EXPAND, label);
        hasher.update(&(counter as u32).to_le_bytes());
        *hasher.finalize().as_bytes()
    }

    pub fn challenges<E: Extension>(&mut self, label: &str, count: usize) -> Vec<E> {
        (0..count).map(|_| self.challenge(label)).collect()
    }

    /// Uniform numbers below 2^bits, sorted, each once.
    pub fn positions(&mut self, label: &str, count: usize, bits: usize) -> Vec<usize> {
        self.state = *self.hasher(CHALLENGE, label).finalize().as_bytes();
        let mut found = Vec::with_capacity(count + 4);
        for counter in 0..count.div_ceil(4) {
            for word in self.expanded(label, counter).chunks_exact(8) {
                let number = word
                    .iter()
                    .rev()
                    .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
                found.push((number & ((1u64 << bits) - 1)) as usize);
            }
        }
        found.truncate(count);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// One message of so many words: `make` computes it for the prover; the verifier reads it.
    pub fn words(
        &mut self,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<u64>,
    ) -> Result<Vec<u64>, Reject> {
        let (words, bytes) = match &mut self.role {
            Role::Nothing => return Ok(vec![0; count]),
            Role::Rehearsal(sent) => {
                let words = make();
                sent.push((label.to_owned(), words.clone()));
                return Ok(words);
            }
            Role::Prover { proof, hook } => {
                let mut words = make();
                debug_assert_eq!(words.len(), count, "{label}");
                if let Some(hook) = hook {
                    hook(label, &mut words)?;
                }
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                proof.extend_from_slice(&bytes);
                words.resize(count, 0);
                (words, bytes)
            }
            Role::Verifier { proof, at } => {
                let Some(bytes) = count
                    .checked_mul(8)
                    .and_then(|length| proof.get(*at..at.checked_add(length)?))
                else {
                    return Err(Reject::Ends(label.to_owned()));
                };
                *at += bytes.len();
                let word = |chunk: &[u8]| {
                    chunk
                        .iter()
                        .rev()
                        .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
                };
                (bytes.chunks_exact(8).map(word).collect(), bytes.to_vec())
            }
        };
        self.absorb(label, &bytes);
        Ok(words)
    }

    /// Words that must be below p.
    pub fn elements(
        &mut self,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<u64>,
    ) -> Result<Vec<F>, Reject> {
        let words = self.words(label, count, make)?;
        if let Role::Prover { .. } = self.role {
            return Ok(words.into_iter().map(F::reduced).collect());
        }
        let found: Option<Vec<F>> = words.into_iter().map(F::canonical).collect();
        found.ok_or_else(|| Reject::Word(label.to_owned()))
    }

    /// One message of elements of the extension.
    pub fn scalars<E: Extension>(
        &mut self,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<E>, Reject> {
        let flat = self.elements(label, E::DEGREE * count, || {
            let words = |e: E| (0..E::DEGREE).map(move |place| e.coordinate(place).word());
            make().into_iter().flat_map(words).collect()
        })?;
        Ok(flat.chunks_exact(E::DEGREE).map(E::of).collect())
    }

    pub fn digest(&mut self, label: &str, make: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], Reject> {
        let words = self.words(label, 4, || {
            let word = |chunk: &[u8]| {
                chunk
                    .iter()
                    .rev()
                    .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
            };
            make().chunks_exact(8).map(word).collect()
        })?;
        let mut digest = [0; 32];
        for (chunk, word) in digest.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Ok(digest)
    }

    /// The verifier's side of `scalars`.
    pub fn read_scalars<E: Extension>(&mut self, label: &str, count: usize) -> Result<Vec<E>, Reject> {
        self.scalars(label, count, || unreachable!("a verifier makes no message"))
    }

    /// The verifier's side of `digest`.
    pub fn read_digest(&mut self, label: &str) -> Result<[u8; 32], Reject> {
        self.digest(label, || unreachable!("a verifier makes no message"))
    }

    /// The proof's bytes; for the verifier, an error where some were never read.
    pub fn finish(self) -> Result<Vec<u8>, Reject> {
        match self.role {
            Role::Prover { proof, .. } => Ok(proof),
            Role::Nothing | Role::Rehearsal(_) => Ok(Vec::new()),
            Role::Verifier { proof, at } if at == proof.len() => Ok(Vec::new()),
            Role::Verifier { proof, at } => Err(Reject::Trailing(proof.len() - at)),
        }
    }
}
