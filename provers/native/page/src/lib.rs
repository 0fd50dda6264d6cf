//! The check of a held file as functions of a WebAssembly module, which web/verifier.js calls.
//!
//! What goes in is written where `reserve` says; what is said stands at `answer`, `answer_length` bytes of UTF-8. Every function
//! but these returns 1 where all is well, 0 where not. A panic ends the module: whoever called says that nothing holds.

#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod randomness;

use std::cell::RefCell;

use circuitize_verify::held::{Check, Held};

#[derive(Default)]
struct State {
    input: Vec<u8>,
    answer: String,
    check: Option<Check>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// What a function answers: text, or why not. Nothing that was answered before is left.
fn told(function: impl FnOnce(&mut State, Vec<u8>) -> Result<String, String>) -> u32 {
    STATE.with_borrow_mut(|state| {
        let input = std::mem::take(&mut state.input);
        let result = function(state, input);
        let held = u32::from(result.is_ok());
        state.answer = result.unwrap_or_else(|reason| reason);
        held
    })
}

/// Where so many bytes go, which the next call takes.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *const u8 {
    STATE.with_borrow_mut(|state| {
        state.input = vec![0; length];
        state.input.as_ptr()
    })
}

/// Begins a check by the bytes of a held file; the answer is their SHA-256.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    told(|state, input| {
        state.check = None;
        let held = Held::decode(&input).map_err(|error| error.to_string())?;
        let digest = held.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        state.check = Some(Check::new(held));
        Ok(digest)
    })
}

/// Checks a file of the folder: the first so many bytes are its path, the others its content.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn file(path_length: usize) -> u32 {
    told(|state, input| {
        let check = state.check.as_mut().ok_or("expected a held file first")?;
        let (path, content) = input
            .split_at_checked(path_length)
            .ok_or("expected a path and a content")?;
        // A path that is no text is lost text, which no held file names.
        let path = String::from_utf8_lossy(path);
        check.file(&path, content).map_err(|reason| reason.to_string())?;
        Ok(String::new())
    })
}

/// Ends the check; the answer is the verdict's lines where every file held.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> u32 {
    told(|state, _| {
        let check = state.check.take().ok_or("expected a held file first")?;
        let lines = check.finish().map_err(|reason| reason.to_string())?;
        Ok(lines.join("\n"))
    })
}

/// Where the answer of the last call stands.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// How many bytes it has.
#[allow(unsafe_code)] // An exported name; no memory is touched.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}
