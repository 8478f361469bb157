// The built page, served by the program of `cargo demo`. PAGE_DIST names another build of it, PAGE_SERVER another program.

import { spawn } from "node:child_process";
import { join, resolve } from "node:path";

export const root = new URL("..", import.meta.url).pathname;
export const dist = resolve(root, process.env.PAGE_DIST || "dist");
export const program = process.env.PAGE_SERVER || join(resolve(root, "../..", process.env.CARGO_TARGET_DIR || "target"), "debug/site");

/** The product's own server of a folder; `stop` ends it. */
export async function serve(folder) {
  const served = spawn(program, ["--serve", folder, "--port", "0", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((found, failed) => {
    let said = "";
    served.on("error", failed);
    served.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    served.stdout.on("data", (part) => {
      said += part;
      const [at] = said.match(/http:\/\/127\.0\.0\.1:\d+\//) ?? [];
      if (at) found(at);
    });
  });
  const gone = new Promise((done) => served.on("exit", done));
  return { home: address, stop: () => (served.kill(), gone) };
}
