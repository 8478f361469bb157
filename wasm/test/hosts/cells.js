// What is done with the package on every host: a line of numbers for each part of it, which are the same everywhere.

/** FNV-1a over bytes. */
function hash(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
}

/**
 * @param {{ index: object, worker: object, objective: object, files: object }} entries as they are imported
 * @param {{ init?: () => Promise<void>, apart?: () => object, filesAt?: URL }} given what a host has to be told
 * @returns {Promise<Record<string, string>>} by column, what it computed or why it did not
 */
export async function cells({ index, worker, objective, files }, { init = async () => {}, apart = () => ({}), filesAt } = {}) {
  await init();
  await index.init();
  const data = index.synthetic("split", { rows: 400, testRows: 400, positives: 0.1 });
  const options = { ...data, seed: 3, steps: 40 };
  const scores = Float32Array.from(data.y, (y, row) => y + (row % 17) / 13);
  const text = (row) => `${row},${(row * 7) % 11},${row % 3 === 0 ? "red" : "blue"},${Number(row % 5 === 0 || row % 11 === 3)}\n`;
  const file = new TextEncoder().encode(`a,b,colour,label\n${Array.from({ length: 200 }, (_, row) => text(row)).join("")}`);
  const trained = async (name, change) => {
    const session = await index.Session.create({ ...options, method: { name }, ...change });
    session.advance({ steps: 40 });
    const params = session.params();
    session.dispose();
    return [params];
  };
  const sums = async (exact) => {
    const { value, gradient } = await exact.ap(scores);
    const { auroc } = await exact.metrics(scores);
    exact.dispose();
    return [gradient, Float64Array.of(value, auroc)];
  };
  const columns = {
    session: () => trained("soap"),
    others: async () => [...(await trained("ap-exact")), ...(await trained("svrg")), ...(await trained("soap", { groups: Uint32Array.from(data.y, (_, row) => row % 2), test: undefined }))],
    async worker() {
      const trainer = await worker.createTrainer({ ...options, method: { name: "soap" }, ...apart() });
      await trainer.advance({ steps: 40 });
      const params = await trainer.params();
      trainer.dispose();
      return [params];
    },
    async objective() {
      const soap = await objective.createObjective({ name: "soap", y: data.y });
      soap.gradient(scores);
      soap.commit();
      const { value, gradient } = soap.gradient(scores);
      const exact = await objective.createObjective({ name: "ap-exact", y: data.y });
      exact.gradient(scores);
      for (const one of [soap, exact]) one.dispose();
      return [gradient, Float64Array.of(value)];
    },
    Exact: async () => sums(await index.Exact.create({ y: data.y, backend: "cpu" })),
    "worker Exact": async () => sums(await worker.createExact({ y: data.y, backend: "cpu", ...apart() })),
    async files() {
      await files.initFiles(filesAt);
      const table = new files.DataFile(file, "own.csv");
      const rows = table.prepare({ label: "label", positive: "1", share: 0.7 });
      const session = new index.Session({ ...rows, method: "soap", steps: 40 });
      session.run();
      const model = await files.Model.of(rows.preparation, session.save());
      const opened = await files.Model.load(model.save());
      const told = opened.predict(file).scores;
      for (const one of [table, session, model, opened]) one.dispose();
      return [told];
    },
  };
  const told = {};
  for (const [name, compute] of Object.entries(columns)) {
    told[name] = await compute().then((answers) => answers.map(hash).join(" "), (error) => `${error?.stack ?? error}`);
  }
  return told;
}

/** Tells the script that started this host. */
export async function tell(work) {
  const told = JSON.stringify(await work().catch((error) => ({ all: `${error?.stack ?? error}` })));
  if (globalThis.document) document.title = told;
  else console.log(told);
}
