//! Views of the prover for tests of what hides a proof: what it sends, for challenges and randomness that a test chooses.
//!
//! There are messages and no proof: challenges do not depend on them, so that no verifier accepts them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::channel::{Channel, Sent};
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::geometry::Demand;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::protocol::{Witness, proved};
use crate::randomness::Randomness;

/// Notes all randomness that a prover asks for, by its labels, and gives other words in place of some of it.
#[derive(Default)]
pub struct Rehearsal {
    replaced: HashMap<String, Vec<u64>>,
    asked: Mutex<Vec<Sent>>,
}

impl Rehearsal {
    pub fn new(replaced: HashMap<String, Vec<u64>>) -> Self {
        let asked = Mutex::default();
        Self { replaced, asked }
    }

    /// Words, or what is in place of them.
    fn note(&self, name: &str, label: &str, drawn: Vec<u64>) -> Vec<u64> {
        let label = format!("{name}{label}");
        let given = match self.replaced.get(&label) {
            Some(words) if words.len() == drawn.len() => words.clone(),
            _ => drawn,
        };
        let mut asked = self.asked.lock().expect("no panic while it was held");
        asked.push((label, given.clone()));
        given
    }

    pub fn words(&self, name: &str, label: &str, drawn: Vec<F>) -> Vec<F> {
        let words = drawn.iter().map(|word| word.word()).collect();
        self.note(name, label, words)
            .into_iter()
            .map(F::reduced)
            .collect()
    }

    pub fn secret(&self, name: &str, label: &str, drawn: [u8; 32]) -> [u8; 32] {
        let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        let words = self.note(name, label, drawn.chunks_exact(8).map(word).collect());
        let mut given = [0; 32];
        for (chunk, word) in given.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        given
    }
}

/// What a prover sends, message by message, and the randomness that it asked for: of the table of number c behind the
/// name "c: ", each from that table's secret alone.
pub fn view<E: Extension>(
    plan: &Plan,
    witness: Witness,
    demand: &Demand,
    challenges: [u8; 32],
    replaced: HashMap<String, Vec<u64>>,
) -> Result<(Vec<Sent>, Vec<Sent>), Reject> {
    let layout = Layout::of(plan, demand)?;
    let rehearsal = Arc::new(Rehearsal::new(replaced));
    let secrets = witness.secrets.clone();
    let mut sent = Vec::new();
    let channel = Channel::rehearsal(challenges, &mut sent);
    proved::<E>(
        plan,
        &layout,
        (b"", b""),
        witness,
        channel,
        &|_| Ok(()),
        &|c, _| Randomness::rehearsed(&secrets[c], &rehearsal, format!("{c}: ")),
    )?;
    let asked = std::mem::take(&mut *rehearsal.asked.lock().expect("no panic while it was held"));
    let used =
        |label: &String, words: &Vec<u64>| asked.iter().any(|(own, given)| own == label && given == words);
    match rehearsal
        .replaced
        .iter()
        .find(|(label, words)| !used(label, words))
    {
        Some((label, words)) => Reject::because(format!("nothing asks for {} words of {label}", words.len())),
        None => Ok((sent, asked)),
    }
}
