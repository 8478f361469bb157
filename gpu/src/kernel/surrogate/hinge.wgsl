// max(m − t, 0), m = shape.x.
fn loss(t: vec4<f32>) -> vec4<f32> {
    return max(vec4<f32>(tile.shape.x) - t, vec4<f32>(0.0));
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    return select(vec4<f32>(0.0), vec4<f32>(-1.0), vec4<f32>(tile.shape.x) > t);
}
