// The wasm module in Node: node train.mjs undercurve_c.wasm. From data to a trained model and an exact gradient.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const uc = instance.exports;
const ROWS = 200, COLUMNS = 3;
const space = (bytes) => uc.uc_alloc(bytes) || (() => { throw new Error("no memory"); })();
const text = (words) => { const at = space(words.length + 1); new Uint8Array(uc.memory.buffer, at).set([...new TextEncoder().encode(words), 0]); return at; };
const check = (code) => { if (code) throw new Error(`code ${code}`); };
const [x, labels, scores, grad, out] = [space(4 * ROWS * COLUMNS), space(ROWS), space(4 * ROWS), space(4 * ROWS), space(24)];
for (let k = 0, random = 1; k < ROWS * COLUMNS; k++) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const row = Math.floor(k / COLUMNS), positive = row % 10 === 0;
    new Uint8Array(uc.memory.buffer, labels, ROWS)[row] = positive;
    new Float32Array(uc.memory.buffer, x, ROWS * COLUMNS)[k] = (random >>> 16) / 65536 + (positive && k % COLUMNS === 0 ? 0.5 : 0);
}
check(uc.uc_trainer_new(x, ROWS, COLUMNS, labels, 0, text("soap"), text("linear"), text("lr = 0.02; steps = 300; pretrain = 100"), 1n, out));
const trainer = new Uint32Array(uc.memory.buffer, out, 1)[0];
check(uc.uc_trainer_steps(trainer, 1n << 40n, out));
check(uc.uc_score(trainer, x, ROWS, COLUMNS, scores, ROWS));
const loss = text("squared-hinge");
check(uc.uc_pairs_need_f32(1, loss, 1, ROWS, 20, 0, out));
const need = new Uint32Array(uc.memory.buffer, out, 1)[0];
check(uc.uc_pairs_f32(1, 0, 1, 0, loss, 1, scores, labels, 0, ROWS, space(need), need, out, grad));
const hash = new Uint8Array(uc.memory.buffer, grad, 4 * ROWS).reduce((h, byte) => Math.imul(h ^ byte, 16777619), 2166136261 | 0);
console.log(`gradient ${(hash >>> 0).toString(16).padStart(8, "0")}`);
