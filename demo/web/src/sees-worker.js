// In a worker: what a loss pushes the scores of a batch by.

import { createObjective } from "undercurve/objective";

/** Settings that the loss reads: those of steps and batches are none of it. */
async function lossOf({ method, settings, y, fpr, sampling }) {
  const own = { ...settings };
  for (;;) {
    try {
      return await createObjective({ name: method, y, settings: own, fpr, sampling });
    } catch (error) {
      const [, setting] = String(error.message).match(/^settings\.([\w-]+): nothing here reads it/) ?? [];
      if (!(setting in own)) throw error;
      delete own[setting];
    }
  }
}

async function pushes({ scores, batch, all, ...of }) {
  let loss;
  try {
    loss = await lossOf(of);
    // (Averages of each row are taken as all rows have them at these weights: those of the run are its own.)
    if (all) {
      loss.gradient(scores);
      loss.commit();
    }
    const { gradient } = loss.gradient(Float32Array.from(batch, (row) => scores[row]), batch);
    const whole = gradient.reduce((sum, one) => sum + Math.abs(one), 0);
    return whole > 0 ? { share: gradient.map((one) => -one / whole) } : {};
  } catch (error) {
    return { lacks: String(error.message ?? error) };
  } finally {
    loss?.dispose();
  }
}

self.onmessage = async ({ data: { port, ...of } }) => port.postMessage(await pushes(of));
