// False-positive rates: a range of them in words, and an axis that is stretched near 0.

/** A range in per cent, as words. @param {[number, number]} range */
export const range = ([low, high]) => (low > 0 ? `${low}–${high}\u00a0%` : `≤\u00a0${high}\u00a0%`);

/** The same as shares of 1. @param {[number, number]} range */
export const rates = (range) => range.map((percent) => Math.round(10 * percent) / 1000);

/** On an axis that is stretched near 0, rates below this are evenly apart, those above by ratio. */
export const NEAR = 0.0005;
/** Where a rate lies on it, from 0 to 1, and back. */
export const stretch = (rate) => Math.asinh(rate / NEAR) / Math.asinh(1 / NEAR);
export const unstretch = (share) => NEAR * Math.sinh(share * Math.asinh(1 / NEAR));
