//! Tensors whose axes are padded to powers of two.

/// For each element in row-major order its place where axes are padded to powers of two; and the padded size.
pub fn padded_places(shape: &[usize]) -> (Vec<usize>, usize) {
    let mut places = vec![0];
    let mut size = 1;
    for &extent in shape {
        let padded = extent.next_power_of_two();
        places = places
            .iter()
            .flat_map(|&place| (0..extent).map(move |p| place * padded + p))
            .collect();
        size *= padded;
    }
    (places, size)
}

/// For each row of axes padded to powers of two, which row of elements it is, if any.
pub fn rows_of(outer: &[usize]) -> Vec<Option<usize>> {
    let (places, size) = padded_places(outer);
    let mut rows = vec![None; size];
    for (row, place) in places.into_iter().enumerate() {
        rows[place] = Some(row);
    }
    rows
}
