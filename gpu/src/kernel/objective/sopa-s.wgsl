// core/src/estimator/pauc_dro.rs, SOPA-s. objective: 1/λ, γ, λ.
fn prepare(t: u32) {}

fn begin(i: u32) -> vec4<f32> {
    let u = moved(i);
    return vec4<f32>(-u, 0.0, objective[0].z * u, 0.0);
}

fn between(t: u32) {}

fn whole(sum: f32, count: f32) -> f32 {
    return sum / count;
}
