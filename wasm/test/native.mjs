import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const root = new URL("../..", import.meta.url).pathname;

/** What an example of tests/examples prints, an object a line: as it was compiled with the tests. UNDERCURVE_LONG=1 compiles it with vectors, so that on x86-64 with AVX2 both sides compute in registers of different widths. */
export function native(example) {
  const compiled = `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/debug/examples/${example}`;
  const run = ["run", "--quiet", "--config", "tests/vectors.toml", "-p", "undercurve-tests", "--features", "simd", "--example", example];
  const [program, words] = process.env.UNDERCURVE_LONG !== "1" && existsSync(compiled) ? [compiled, []] : ["cargo", run];
  return execFileSync(program, words, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => JSON.parse(line));
}
