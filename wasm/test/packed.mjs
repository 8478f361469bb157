// The package as `npm pack` makes it, installed in an empty folder. Needs `cargo demo --build-only`.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const js = new URL("../js/", import.meta.url).pathname;

/** The folder, what is installed in it, and what `npm pack` says of the tarball. Who asks removes the folder. */
export async function install() {
  const folder = await mkdtemp(join(tmpdir(), "undercurve-pack-"));
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: js, encoding: "utf8" }));
  const installed = join(folder, "node_modules/undercurve");
  await mkdir(installed, { recursive: true });
  execFileSync("tar", ["xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
  await writeFile(join(folder, "package.json"), '{ "type": "module", "dependencies": { "undercurve": "*" } }');
  return { folder, installed, packed };
}
