//! Large vectors: zeroed by the operating system where it hands them out, in large pages where it has them.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

use crate::cubic::Cubic;
use crate::field::F;
use crate::quadratic::Quadratic;

/// Types whose value of zero bytes is zero.
///
/// # Safety
/// All bytes zero must be a value.
pub unsafe trait Zero: Copy {}
// SAFETY: words, the word 0 among them.
unsafe impl Zero for F {}
// SAFETY: words of the base field.
unsafe impl Zero for Quadratic {}
// SAFETY: words of the base field.
unsafe impl Zero for Cubic {}
// SAFETY: any word is one.
unsafe impl Zero for u64 {}
// SAFETY: any bytes are.
unsafe impl Zero for [u8; 32] {}

/// From so many bytes on, pages of 2 MiB are asked for: a fault each 4 KiB costs more than filling them.
const LARGE: usize = 1 << 22;

/// So many zeros. Pages are touched by whoever writes to them first.
pub fn zeros<T: Zero>(length: usize) -> Vec<T> {
    let layout = Layout::array::<T>(length).expect("a vector that can be addressed");
    if layout.size() < LARGE {
        return vec![unsafe { std::mem::zeroed() }; length];
    }
    // SAFETY: the layout is not empty, is that of a vector of this capacity, and zero bytes are values of T.
    unsafe {
        let start = alloc_zeroed(layout);
        if start.is_null() {
            handle_alloc_error(layout);
        }
        advise(start, layout.size());
        Vec::from_raw_parts(start.cast(), length, length)
    }
}

#[cfg(target_os = "linux")]
unsafe fn advise(start: *mut u8, bytes: usize) {
    const PAGE: usize = 1 << 12;
    let first = (start as usize).next_multiple_of(PAGE);
    let end = (start as usize + bytes) & !(PAGE - 1);
    // SAFETY: whole pages of memory that is ours; the advice changes no content, and may be refused.
    unsafe {
        libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
unsafe fn advise(_start: *mut u8, _bytes: usize) {}
