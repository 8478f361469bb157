// The package as `npm pack` makes it, installed in an empty folder: the one that all tests import from, made once after each build, and
// copies of it for tests that write beside it. Needs `cargo demo --build-only`.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = new URL("../..", import.meta.url).pathname;
const js = join(root, "wasm/js");
const shared = join(root, process.env.CARGO_TARGET_DIR ?? "target", "packed");
const TOLD = "packed.json";

/** When something in a folder was last written. */
const newest = (folder) => Math.max(...readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)).mtimeMs));
const isFresh = () => existsSync(join(shared, TOLD)) && statSync(join(shared, TOLD)).mtimeMs >= newest(js);

async function pack() {
  const folder = `${shared}-${process.pid}`;
  const to = join(folder, "node_modules/undercurve");
  await mkdir(to, { recursive: true });
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: js, encoding: "utf8" }));
  execFileSync("tar", ["xzf", join(folder, packed.filename), "-C", to, "--strip-components=1"]);
  await writeFile(join(folder, "package.json"), '{ "type": "module", "dependencies": { "undercurve": "*" } }');
  await writeFile(join(folder, TOLD), JSON.stringify(packed));
  // (Another test may have been faster.)
  if (!isFresh()) {
    rmSync(shared, { recursive: true, force: true });
    renameSync(folder, shared);
  } else rmSync(folder, { recursive: true });
}

if (!isFresh()) await pack();
const { resolve } = createRequire(join(shared, "package.json"));
/** Where it is installed. */
export const installed = join(shared, "node_modules/undercurve");

/** What an entry of the installed package exports: `undercurve`, `undercurve/worker`, … */
export const entry = (name) => import(pathToFileURL(resolve(name)));

/** Another copy in an empty folder, what is installed in it, and what `npm pack` said of the tarball. Who asks removes the folder. */
export async function install() {
  const folder = await mkdtemp(join(tmpdir(), "undercurve-pack-"));
  for (const name of ["package.json", "node_modules"]) await cp(join(shared, name), join(folder, name), { recursive: true });
  return { folder, installed: join(folder, "node_modules/undercurve"), packed: JSON.parse(readFileSync(join(shared, TOLD), "utf8")) };
}
