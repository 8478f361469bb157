// Moreau envelope of max(m − t, 0) with parameter λ: m = shape.x, λ = shape.y.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let d = max(vec4<f32>(tile.shape.x) - t, vec4<f32>(0.0));
    let inside = min(d, vec4<f32>(tile.shape.y));
    return (d - inside) + 0.5 * inside * (inside / tile.shape.y);
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let d = max(vec4<f32>(tile.shape.x) - t, vec4<f32>(0.0));
    return -(min(d, vec4<f32>(tile.shape.y)) / tile.shape.y);
}
