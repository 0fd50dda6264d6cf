//! Random bytes, which the module has from the page: halo2's verifier tries gates on random values.

use getrandom::{Error, register_custom_getrandom};

#[link(wasm_import_module = "page")]
#[allow(unsafe_code)] // The one import.
unsafe extern "C" {
    fn random(place: *mut u8, length: usize);
}

#[allow(unsafe_code)] // The page writes no more than is there.
fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    unsafe { random(bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}

register_custom_getrandom!(fill);
