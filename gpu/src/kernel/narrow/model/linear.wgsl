// One layer from the rows to the score.

fn input(r: u32, k: u32) -> f32 {
    return rows[picked[r] * LAST + k];
}

fn term(source: u32, width: u32, r: u32, k: u32) -> f32 {
    return last_term(r, k);
}

fn forward(t: u32) {}

fn whole_step(t: u32, run: u32, last: bool) {
    objective_step(t, run, last);
    columns(t, 0u, LAST + 1u, 0u);
}
