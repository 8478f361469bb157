// core/src/estimator/smooth_ap.rs. objective: whether weights are unbiased, negatives and positives of the data.
const OTHERS = true;

fn weigh(i: u32, count: f32, low: f32, high: f32, low_slope: f32, high_slope: f32) -> vec4<f32> {
    var wl = 1.0;
    var wh = 1.0;
    if objective[0].x != 0.0 {
        wl = objective[0].y / f32(negatives);
        wh = objective[0].z;
        if count > 1.0 {
            wh = (objective[0].z - 1.0) / (count - 1.0);
        }
    }
    let own = 1.0 + wh * settled(high - loss(vec4<f32>(0.0)).x, FAINT);
    let all = own + wl * settled(low, FAINT);
    let ratio = own / all;
    let over = (1.0 / count) / all;
    let kappa = vec2<f32>(settled(wl * over * ratio, FAINT), settled(wh * over * (ratio - 1.0), FAINT));
    return vec4<f32>(kappa, ratio, kappa.x * low_slope + kappa.y * high_slope);
}

fn whole(sum: f32, count: f32) -> f32 {
    return 1.0 - sum / count;
}
