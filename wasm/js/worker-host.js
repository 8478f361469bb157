// Inside the worker: answers the calls of `worker.js` one after the other.

import { among, shown } from "./check.js";
import { UndercurveError, packed } from "./error.js";
import { Lanes, Session, flipLabels, init, initExact, initGroups, initPairs, synthetic, syntheticClasses, syntheticGroups } from "./index.js";
import { LOADS } from "./modules.js";

/** The page, or the program in Node. */
const outside = globalThis.process?.getBuiltinModule?.("node:worker_threads")?.parentPort ?? self;

const sessions = new Map();
const files = new Map();
let last = 0;

function held(session) {
  const found = sessions.get(session);
  if (!found) throw new UndercurveError("the session was disposed", { code: 203 });
  return found;
}

function opened(file) {
  const found = files.get(file);
  if (!found) throw new UndercurveError(`file ${shown(file)}: is not open here`, { code: 203, argument: "file" });
  return found;
}

/** The calls that `Engine.call` is for; the others are those of the classes of `worker.js`. */
const ASKED = "synthetic syntheticClasses syntheticGroups flip open describe prepare prepareClasses close".split(" ");

const calls = {
  /** The first call: where the modules are, and which of them to load while the page is still busy with itself. */
  async modules(given, first) {
    const loads = { ...LOADS, pairs: initPairs, exact: initExact };
    for (const [name, load] of Object.entries(loads)) if (given[name]) load.from = () => given[name];
    await loads[first]();
  },
  /** Drawn rows; the held-out ones lie on a plane as they are. */
  async synthetic(kind, options) {
    await init();
    const data = synthetic(kind, options);
    return { ...data, plane: data.test.X.slice(0, 4000) };
  },

  async syntheticClasses(kind, options) {
    await initGroups();
    const data = syntheticClasses(kind, options);
    return { ...data, names: Array.from({ length: data.classes }, (_, one) => String(one)), plane: data.test.X.slice(0, 4000) };
  },

  async syntheticGroups(kind, options) {
    await initGroups();
    const data = syntheticGroups(kind, options);
    return { ...data, plane: data.test.X.slice(0, 4000) };
  },

  async flip(...args) {
    await init();
    return flipLabels(...args);
  },

  /** Reads a file and keeps it; answers with what it holds. */
  async open(bytes, name, options) {
    const { DataFile, initFiles } = await import("./files.js");
    await initFiles();
    const file = new DataFile(bytes, name, options);
    files.set(++last, file);
    return { file: last, ...file.describe() };
  },
  describe: (file, of) => opened(file).describe(of),
  prepare: (file, choice) => opened(file).prepare(choice),
  prepareClasses: (file, choice) => opened(file).prepareClasses(choice),
  close(file) {
    files.get(file)?.dispose();
    files.delete(file);
  },

  /** Loads the module that has the method; other sessions go on meanwhile. */
  async create(options) {
    const created = await Session.create(options);
    sessions.set(++last, created);
    return { session: last };
  },
  async createLanes(options) {
    const created = await Lanes.create(options);
    sessions.set(++last, created);
    const { runs, backend, backendReason: reason } = created;
    return { session: last, runs, backend, reason };
  },
  advanceLanes: (session, slice, view) => held(session).advance(slice, view),
  saveLane: (session, lane) => held(session).save(lane),
  async loadLane(session, lane) {
    const loaded = await held(session).load(lane);
    sessions.set(++last, loaded);
    return { session: last };
  },
  async createExact(options) {
    // (Few pages ask for it first. `Lanes` cannot be imported so: in parcel's worker a module of it is missing then.)
    const { Exact } = await import("./exact.js");
    const exact = await Exact.create(options);
    sessions.set(++last, exact);
    return { session: last, backend: exact.backend, reason: exact.backendReason };
  },
  /** One of its calls, with what computes since. */
  async exact(session, call, ...args) {
    const of = held(session);
    const answer = await of[call](...args);
    return { answer, backend: of.backend, reason: of.backendReason };
  },
  advance(session, slice, view) {
    const trainer = held(session);
    if (slice.steps !== 0) trainer.advance(slice);
    return trainer.snapshot(view);
  },
  score: (session, X) => held(session).score(X),
  params: (session) => held(session).params(),
  columns: (session) => held(session).columns(),
  layout: (session) => held(session).layout(),
  batch: (session) => held(session).batch(),
  save: (session) => held(session).save(),
  dispose(session) {
    sessions.get(session)?.dispose();
    sessions.delete(session);
  },
};

/** The buffers of an answer move instead of being copied. */
function transferable(value, into = []) {
  if (ArrayBuffer.isView(value)) into.push(value.buffer);
  else if (value && typeof value === "object") for (const part of Object.values(value)) transferable(part, into);
  return into;
}

async function answer({ id, call, args }) {
  try {
    if (!Object.hasOwn(calls, call)) among(call, ASKED, "call");
    const value = await calls[call](...args);
    outside.postMessage({ id, value }, transferable(value));
  } catch (error) {
    outside.postMessage({ id, error: packed(error) });
  }
}

if (outside === globalThis.self) self.onmessage = ({ data }) => answer(data);
else outside.on("message", answer);
