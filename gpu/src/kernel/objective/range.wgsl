// Losses of pairs, weighed by their negatives, over the width of the range.

fn begin(i: u32) -> vec4<f32> {
    let own = vec4<f32>(h[negatives + i]);
    var sum = vec4<f32>(0.0);
    for (var j = 0u; j < negatives; j += 4u) {
        let at = j + FOUR;
        let weighed = four_gates(at) * loss(own - four_scores(0u, at, negatives));
        sum += select(vec4<f32>(0.0), weighed, at < vec4<u32>(negatives));
    }
    return vec4<f32>(0.0, 0.0, total(sum), 0.0);
}

fn between(t: u32) {}

fn weight(mine: vec4<f32>, losses: vec4<f32>, gate: vec4<f32>) -> vec4<f32> {
    return gate;
}

fn unit(count: f32) -> f32 {
    return 1.0 / (count * (objective[0].y - objective[0].x));
}

fn whole(sum: f32, count: f32) -> f32 {
    return sum * unit(count);
}
