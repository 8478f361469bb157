import { execFileSync } from "node:child_process";

const root = new URL("../..", import.meta.url).pathname;

/** What an example of tests/examples prints, an object a line. With vectors: on x86-64 with AVX2 both sides compute in registers of different widths. */
export function native(example) {
  const run = ["run", "--quiet", "--config", "tests/vectors.toml", "-p", "undercurve-tests", "--features", "simd", "--example", example];
  return execFileSync("cargo", run, { cwd: root, encoding: "utf8" }).trim().split("\n").map((line) => JSON.parse(line));
}
