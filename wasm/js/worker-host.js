// Inside the worker: answers the calls of `worker.js` one after the other.

import { Data, Session, Table, init, methods, synthetics } from "./index.js";

const sessions = new Map();
const tables = new Map();
let last = 0;

/** Copies prepared rows out of the module, with what a picture of them needs. */
function unpack(data) {
  try {
    return {
      dims: data.dims,
      X: data.trainX(),
      y: data.trainY(),
      test: { X: data.testX(), y: data.testY() },
      plane: data.plane(2000),
    };
  } finally {
    data.free();
  }
}

const calls = {
  methods: () => JSON.parse(methods()),
  synthetics: () => JSON.parse(synthetics()),
  synthetic: (kind, rows, testRows, positives, noise, seed) =>
    unpack(Data.synthetic(kind, rows, testRows, positives, noise, seed)),

  /** Reads a file and keeps it; answers with what it holds. */
  open(bytes, name) {
    const table = new Table(bytes, name);
    tables.set(++last, table);
    return { table: last, ...JSON.parse(table.describe()) };
  },
  prepare(table, { label, positive, impute, share, seed }) {
    return unpack(tables.get(table).prepare(label, positive, impute, share, seed));
  },
  close(table) {
    tables.get(table)?.free();
    tables.delete(table);
  },

  create(options) {
    sessions.set(++last, new Session(options));
    return {
      session: last,
      backend: "cpu-simd",
      reason: "WebAssembly with 128-bit SIMD in a worker; this build has no GPU part",
    };
  },
  advance(session, slice, view) {
    const trainer = sessions.get(session);
    if (slice.steps !== 0) trainer.advance(slice);
    return trainer.snapshot(view);
  },
  params: (session) => sessions.get(session).params(),
  batch: (session) => sessions.get(session).batch(),
  save: (session) => sessions.get(session).save(),
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

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    await init();
    const value = calls[call](...args);
    self.postMessage({ id, value }, transferable(value));
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
};
