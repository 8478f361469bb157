// ln(1 + e^(−ct)), c = shape.x. ln(1 + e) for e in [0, 1] is 2 atanh(e/(2 + e)), by its series: WGSL has no log1p, and
// log(1 + e) would lose small e.
fn loss(t: vec4<f32>) -> vec4<f32> {
    let x = -(tile.shape.x * t);
    let e = exp(-abs(x));
    let z = e / (vec4<f32>(2.0) + e);
    let q = z * z;
    var s = vec4<f32>(0.07692308);
    s = s * q + 0.09090909;
    s = s * q + 0.11111111;
    s = s * q + 0.14285715;
    s = s * q + 0.2;
    s = s * q + 0.33333334;
    s = s * q + 1.0;
    return max(x, vec4<f32>(0.0)) + (z + z) * s;
}
fn slope(t: vec4<f32>) -> vec4<f32> {
    let x = -(tile.shape.x * t);
    let e = exp(-abs(x));
    return -(tile.shape.x * (select(e, vec4<f32>(1.0), x >= vec4<f32>(0.0)) / (vec4<f32>(1.0) + e)));
}
