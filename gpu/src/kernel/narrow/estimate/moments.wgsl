// Min-max objectives of the classes' moments, with auxiliaries a, b and α behind the parameters. `saddle` takes Σ h,
// Σ (h − centre) and Σ (h − centre)² of each class (the centres are b of the negatives, a of the positives) and gives the
// gradient by a, by b, by α with its sign flipped, and the value.

fn estimate(t: u32, run: u32, last: bool) {
    let a = state[base + PARAMS];
    let b = state[base + PARAMS + 1u];
    let alpha = state[base + PARAMS + 2u];
    // Class by t's last bit, four invocations each.
    if t < 8u {
        let begin = select(0u, negatives, (t & 1u) == 1u) + (t >> 1u);
        let end = select(negatives, ROWS, (t & 1u) == 1u);
        let centre = select(b, a, (t & 1u) == 1u);
        var sum = vec4<f32>(0.0);
        for (var r = begin; r < end; r += 4u) {
            let d = h[r] - centre;
            sum += vec4<f32>(h[r], d, d * d, 0.0);
        }
        staged[t] = sum;
    }
    workgroupBarrier();
    for (var r = t; r < ROWS; r += 256u) {
        let positive = r >= negatives;
        c[r] = by_score(positive, h[r] - select(b, a, positive), alpha);
    }
    if t == 0u {
        let low = (staged[0] + staged[2]) + (staged[4] + staged[6]);
        let high = (staged[1] + staged[3]) + (staged[5] + staged[7]);
        let by = saddle(low, high, alpha);
        if last {
            answer[run] = by.w;
        }
        move_along(PARAMS, settled(by.x, TINY));
        move_along(PARAMS + 1u, settled(by.y, TINY));
        move_along(PARAMS + 2u, settled(by.z, TINY));
    }
}
