// max(m − t, 0)², m = shape.x.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let d = max(vec4<f32>(tile.shape.x) - t, vec4<f32>(0.0));
    return d * d;
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let d = max(vec4<f32>(tile.shape.x) - t, vec4<f32>(0.0));
    return -(d + d);
}
