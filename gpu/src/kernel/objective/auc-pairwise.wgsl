// core/src/estimator/auc_pairwise.rs: the mean over the pairs of a positive with a negative.
const OTHERS = false;

fn weigh(i: u32, count: f32, low: f32, high: f32, low_slope: f32, high_slope: f32) -> vec4<f32> {
    let mean = 1.0 / (count * f32(negatives));
    return vec4<f32>(mean, 0.0, low, mean * low_slope);
}

fn whole(sum: f32, count: f32) -> f32 {
    return sum * (1.0 / (count * f32(negatives)));
}
