// e^(−ct), c = shape.x. The host has refused scores whose sums would not fit.
fn loss(t: vec4<f32>) -> vec4<f32> {
    return exp(-(tile.shape.x * t));
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    return -(tile.shape.x * exp(-(tile.shape.x * t)));
}
