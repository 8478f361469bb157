// A run as a walk of slices.

import { need, whole } from "./check.js";

/** Gives way to whatever else waits on this thread. */
export const rest = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

/**
 * One advance after the other until the run is over or so many steps are done.
 * @param {(steps: number, last: boolean) => Promise<{ done: boolean }>} advance
 */
export async function* slices(advance, steps, every) {
  need(whole(every, 1, Number.MAX_SAFE_INTEGER), "every", every, "a whole number from 1");
  for (let left = steps, done = false; left > 0 && !done; left -= every) {
    const snapshot = await advance(Math.min(every, left), left <= every);
    done = snapshot.done;
    yield snapshot;
  }
}
