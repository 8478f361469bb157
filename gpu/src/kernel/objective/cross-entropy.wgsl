// core/src/estimator/cross_entropy.rs: loss and slope at z, the score toward the row's own class. objective: weights of
// negatives and of positives.
fn point(z: f32) -> vec2<f32> {
    return vec2<f32>(softplus(-z), -settled(sigmoid(-z), FAINT));
}
