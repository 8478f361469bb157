// 1/(1 + e^(ct)), c = shape.x.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let x = -(tile.shape.x * t);
    let e = exp(-abs(x));
    return select(e, vec4<f32>(1.0), x >= vec4<f32>(0.0)) / (vec4<f32>(1.0) + e);
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let e = exp(-abs(tile.shape.x * t));
    let r = vec4<f32>(1.0) + e;
    return -(tile.shape.x * (e / r / r));
}
