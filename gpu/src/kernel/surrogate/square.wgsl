// (m − t)², m = shape.x.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let d = vec4<f32>(tile.shape.x) - t;
    return d * d;
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let d = vec4<f32>(tile.shape.x) - t;
    return -(d + d);
}
