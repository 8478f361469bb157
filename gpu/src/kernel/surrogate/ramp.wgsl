// min(1, max(m − t, 0)/m), m = shape.x.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let m = vec4<f32>(tile.shape.x);
    return clamp(m - t, vec4<f32>(0.0), m) / m;
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let m = vec4<f32>(tile.shape.x);
    let inside = (t >= vec4<f32>(0.0)) & (t < m);
    return select(vec4<f32>(0.0), -(vec4<f32>(1.0) / m), inside);
}
