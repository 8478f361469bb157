// core/src/estimator/focal.rs: loss and slope at z, the score toward the row's own class. objective: weights of negatives
// and of positives; 0; the exponent.
fn point(z: f32) -> vec2<f32> {
    let focus = objective[0].w;
    let loss = settled(softplus(-z), FAINT);
    let modulation = settled(fading_exp(-(focus * softplus(z))), FAINT);
    return vec2<f32>(modulation * loss, -(modulation * settled(focus * sigmoid(z) * loss + sigmoid(-z), FAINT)));
}
