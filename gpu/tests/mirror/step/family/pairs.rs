//! Sums over the pairs of every positive, of which weights are made.

use crate::mirror::{Run, strided};
use undercurve::surrogate::Surrogate;

/// Of a positive: which it is, how many there are, and Σ ℓ over negatives and over positives.
pub struct Sums {
    pub i: usize,
    pub count: f32,
    pub losses: [f32; 2],
}

/// What is made of them: κ for negatives and for positives, and the share of the value.
pub struct Weighed {
    pub kappa: [f32; 2],
    pub share: f32,
}

/// The gradient, and Σ of the shares. With no others, pairs of positives have no weight.
pub fn pairs(
    run: &mut Run<'_>,
    h: &[f32],
    others: bool,
    weigh: impl Fn(&mut Run<'_>, &Sums) -> Weighed,
) -> (Vec<f32>, f32) {
    let (low, loss, ways) = (run.negatives, run.loss, run.order.pairs);
    let count = h.len() - low;
    let end = if others { h.len() } else { low };
    let (mut kappas, mut owns, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..count {
        let over = |from, end, f: &dyn Fn(f32) -> f32| strided(ways, from, end, |j| f(h[low + i] - h[j]));
        let (value, slope) = (|t| loss.value(t), |t| loss.slope(t));
        let losses = [over(0, low, &value), over(low, end.max(low), &value)];
        let slopes = [over(0, low, &slope), over(low, end.max(low), &slope)];
        let Weighed { kappa, share } = weigh(run, &Sums { i, count: count as f32, losses });
        owns.push(match others {
            true => kappa[0] * slopes[0] + kappa[1] * slopes[1],
            false => kappa[0] * slopes[0],
        });
        kappas.push(kappa);
        shares.push(share);
    }
    let mut c = vec![0.0; h.len()];
    for (j, c) in c.iter_mut().enumerate() {
        let own = if j >= low { owns[j - low] } else { 0.0 };
        let of = usize::from(j >= low);
        let sum = match others || j < low {
            true => strided(ways, 0, count, |i| kappas[i][of] * loss.slope(h[low + i] - h[j])),
            false => 0.0,
        };
        *c = own - sum;
    }
    (c, strided(run.order.values, 0, count, |i| shares[i]))
}
