//! Sums over windows of sorted rows, for the smoothed hinge and the ramp of any scores.
//!
//! Sources x and targets s are sorted. The sources with 0 < d = (x − s) + m ≤ λ are a target's window, those with d > λ lie
//! beyond it. As d never falls when x rises or s falls, in floating point too, both are ranges of sources whose ends move
//! one way from target to target. A window is cut at a post, one of the sources that it holds: what lies below the post
//! is a running sum of the way down, what lies above it one of the way up, and a new post is taken once the window lies
//! below the old one. So no sum is a difference of sums, and the digits do not depend on how far the scores spread.
//!
//! Source: own; the posts are those of the van Herk and Gil–Werman running minimum. Cost: O(targets + sources). Memory: one
//! number a target.

use super::ramp_sums::{Window, raise};

/// Calls `put` twice for every target: with its number, `[count, Σd, Σd²]` of a part of its window, and `[count, Σd]` of the
/// sources beyond it (the second time none), all of them weighted. `target` and `source` are ascending; weights have one sign.
pub(super) fn sums(
    loss: &Window,
    (targets, target): (usize, impl Fn(usize) -> f64),
    (sources, source): (usize, impl Fn(usize) -> (f64, f64)),
    posts: &mut [u64],
    mut put: impl FnMut(usize, [f64; 3], [f64; 2]),
) {
    let far_margin = loss.margin - loss.width;
    // Down: the sources beyond, and the part of the window below its post.
    let (mut near, mut far, mut post) = (sources, sources, usize::MAX);
    let (mut beyond, mut below, mut last) = ([0.0; 2], [0.0; 3], f64::NAN);
    for k in (0..targets).rev() {
        let s = target(k);
        if k + 1 < targets {
            let gap = last - s;
            beyond[1] += gap * beyond[0];
            below = raise(below, gap);
        }
        last = s;
        while far > 0 && (source(far - 1).0 - s) + far_margin > 0.0 {
            far -= 1;
            let (x, weight) = source(far);
            beyond[0] += weight;
            beyond[1] += weight * ((x - s) + loss.margin);
        }
        // All that is in the window now lies below the post that was.
        let moved = far <= post;
        while near > 0 {
            let (x, weight) = source(near - 1);
            let d = (x - s) + loss.margin;
            if d <= 0.0 {
                break;
            }
            near -= 1;
            below[0] += weight;
            below[1] += weight * d;
            below[2] += weight * (d * d);
        }
        if moved {
            (post, below) = (near, [0.0; 3]);
        }
        posts[k] = post as u64;
        put(k, below, beyond);
    }
    // Up: the part of the window from its post on, by the distances above the post.
    let (mut far, mut post, mut above) = (0, usize::MAX, [0.0; 3]);
    for k in 0..targets {
        let (s, of_target) = (target(k), posts[k] as usize);
        if of_target != post {
            (post, far, above) = (of_target, of_target, [0.0; 3]);
        }
        let base = if post < sources { source(post).0 } else { continue };
        while far < sources {
            let (x, weight) = source(far);
            if (x - s) + far_margin > 0.0 {
                break;
            }
            let rise = x - base;
            above[0] += weight;
            above[1] += weight * rise;
            above[2] += weight * (rise * rise);
            far += 1;
        }
        if far > post {
            put(k, raise(above, (base - s) + loss.margin), [0.0; 2]);
        }
    }
}
