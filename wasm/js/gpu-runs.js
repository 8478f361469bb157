// Runs side by side on a graphics adapter. The kernels are in a module of their own; the runs are those of a module that trains,
// which draws their batches, makes the steps that are no plain ones, and goes on where the device stops.

import { kernels } from "./kernels.js";
import { taken } from "./load.js";

/** Steps that are drawn at a time, at most, and entries of their lists. */
const PIECE = 64;
const ENTRIES = 1 << 22;
/** In a table of lists: none, so that the run stays where it is. */
const IDLE = 0xffffffff;

const words = (error) => String(error?.message ?? error);

/** Trainers on the same rows, whose steps a device makes. */
export class GpuRuns {
  #gpu;
  #trainers;
  #rows;
  #rested;
  /** By shape: the runs of the device. */
  #lanes = new Map();
  #current;
  /** Of each run: its shape and numbers, whether the device has its state, and where it was when it left. */
  #runs;

  /**
   * @param {import("./pkg/undercurve_webgpu.js").Gpu} gpu
   * @param {import("./pkg/undercurve_whole.js").Trainer[]} trainers
   * @param {() => Promise<void>} rested gives way to others where it is time to
   */
  constructor(gpu, trainers, rested) {
    this.#gpu = gpu;
    this.#trainers = trainers;
    this.#rested = rested;
    this.#rows = trainers[0].rows();
    this.#runs = trainers.map(() => ({ away: false, known: undefined, error: undefined }));
    /** Why the device no longer takes part. @type {string | undefined} */
    this.failure = undefined;
  }

  get name() {
    return this.#gpu.name;
  }

  /** Whether the device computes on the CPU. */
  get software() {
    return this.#gpu.software;
  }

  /** The trainers have been put elsewhere: what ended them before has not happened. */
  forget() {
    for (const run of this.#runs) [run.away, run.error] = [false, undefined];
  }

  /** What ended each run before its time. */
  get errors() {
    return this.#runs.map((run) => run.error);
  }

  /** Why no device can make the next steps of a run, if none can. */
  refusal(run) {
    try {
      this.#trainers[run].lane().free();
    } catch (error) {
      return words(error);
    }
  }

  /** So many steps of every run that has as many left; how many were made in all. */
  async advance(steps) {
    const target = this.#trainers.map((trainer) => trainer.stepsDone + steps);
    const open = (at) => !this.#runs[at].error && !this.#trainers[at].done && this.#trainers[at].stepsDone < target[at];
    const before = this.#steps();
    for (;;) {
      const going = this.#trainers.map((_, at) => at).filter(open);
      if (going.length === 0) break;
      if (this.failure) for (const at of going) await this.#step(at, target[at]);
      else await this.#piece(going, target).catch((error) => this.#fail(error));
    }
    return this.#steps() - before;
  }

  #steps() {
    return this.#trainers.reduce((sum, trainer) => sum + trainer.stepsDone, 0);
  }

  /** Steps on the CPU up to a number of them. */
  async #step(at, target) {
    const trainer = this.#trainers[at];
    try {
      while (trainer.stepsDone < target && trainer.step()) await this.#rested();
    } catch (error) {
      this.#runs[at].error = words(error);
    }
  }

  /** Some steps of the runs that the first one can go with. */
  async #piece(going, target) {
    const others = [];
    let count = PIECE;
    for (const at of going) {
      const trainer = this.#trainers[at];
      const plain = trainer.plainSteps(Math.min(PIECE, target[at] - trainer.stepsDone));
      if (plain === 0) others.push(at);
      else count = Math.min(count, plain);
    }
    if (others.length) {
      // What is no plain step is the trainer's.
      await this.sync();
      if (this.failure) return;
      for (const at of others) await this.#step(at, this.#trainers[at].stepsDone + 1);
      return;
    }
    const shapes = going.map((at) => taken(this.#trainers[at].lane(), (lane) => lane.shape));
    const party = going.filter((_, k) => shapes[k] === shapes[0]);
    if (this.#current?.shape !== shapes[0]) await this.sync();
    if (this.failure) return;
    this.#current = this.#lanes.get(shapes[0]) ?? (await this.#make(shapes[0]));
    // (A list has at most two entries a row.)
    const entries = 2 * Number(shapes[0].split(" ")[2]) * party.length;
    await this.#drive(party, Math.min(count, Math.max(1, Math.floor(ENTRIES / entries))));
  }

  async #make(shape) {
    const lanes = await kernels.GpuLanes.create(this.#gpu, shape, this.#rows, this.#trainers.length);
    const made = { shape, lanes, length: Number(shape.split(" ").at(-1)) };
    this.#lanes.set(shape, made);
    return made;
  }

  async #drive(party, count) {
    const { lanes } = this.#current;
    const pace = new Float32Array(2 * count * this.#trainers.length);
    const table = new Uint32Array(this.#trainers.length).fill(IDLE);
    const lists = [];
    const keys = new Map();
    // Where negatives differ from batch to batch, one may have none, which an objective may refuse.
    const before = this.#current.shape.split(" ")[3] === "-" ? party.map((at) => this.#trainers[at].snapshot()) : [];
    let refused = false;
    for (const at of party) {
      const [trainer, run] = [this.#trainers[at], this.#runs[at]];
      if (!run.away) {
        lanes.load(at, trainer.state(), taken(trainer.lane(), (lane) => lane.numbers));
        run.known?.free();
        [run.known, run.away] = [trainer.snapshot(), true];
      }
      const key = `${trainer.seed} ${trainer.stepsDone}`;
      const [made, list, paces] = taken(trainer.draw(count), (ahead) => [ahead.steps, ahead.takeLists(), ahead.takePace()]);
      refused ||= made < count;
      if (!refused) pace.set(paces, 2 * count * at);
      // Runs of one seed draw the same batches at the same step.
      const twin = keys.get(key);
      const same = twin !== undefined && lists[twin].every((row, k) => row === list[k]);
      table[at] = same ? twin : lists.length;
      if (!same) {
        keys.set(key, lists.length);
        lists.push(list);
      }
      await this.#rested();
    }
    if (refused) {
      // That is its trainer's to do.
      party.forEach((at, k) => this.#trainers[at].restore(before[k]));
      await this.sync();
      for (const at of party) await this.#step(at, this.#trainers[at].stepsDone + count);
    }
    for (const memory of before) memory.free();
    if (refused) return;
    const all = new Uint32Array(lists.length * lists[0].length);
    lists.forEach((list, k) => all.set(list, k * list.length));
    await lanes.advance(count, all, table, pace);
  }

  /** Brings the trainers up to date. */
  async sync() {
    if (!this.#runs.some((run) => run.away)) return;
    const { lanes, length } = this.#current;
    let states;
    try {
      states = await lanes.states();
    } catch (error) {
      // The steps that went with the device are made again here.
      const steps = this.#trainers.map((trainer) => trainer.stepsDone);
      this.#fail(error);
      for (const at of steps.keys()) await this.#step(at, steps[at]);
      return;
    }
    const values = states.subarray(length * this.#runs.length);
    for (const [at, run] of this.#runs.entries()) {
      if (!run.away) continue;
      const trainer = this.#trainers[at];
      run.away = false;
      try {
        trainer.setState(states.subarray(at * length, (at + 1) * length), values[at]);
      } catch {
        // Numbers that are none are made again here, which tells where they came from.
        const steps = trainer.stepsDone;
        trainer.restore(run.known);
        await this.#step(at, steps);
      }
      await this.#rested();
    }
  }

  /** The device no longer takes part: its runs are where they left. */
  #fail(error) {
    this.failure = words(error);
    for (const [at, run] of this.#runs.entries()) {
      if (run.away) this.#trainers[at].restore(run.known);
      run.away = false;
    }
    this.#drop();
  }

  #drop() {
    for (const { lanes } of this.#lanes.values()) lanes.free();
    this.#lanes.clear();
    this.#current = undefined;
  }

  /** Frees the memory; the trainers are their owner's. */
  dispose() {
    this.#drop();
    for (const run of this.#runs) run.known?.free();
    this.#gpu.free();
  }
}
