import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: "./",
  resolve: {
    alias: [
      { find: /^undercurve$/, replacement: at("../../wasm/js/index.js") },
      { find: /^undercurve\/worker$/, replacement: at("../../wasm/js/worker.js") },
      { find: /^undercurve\/methods$/, replacement: at("../../wasm/js/pkg/methods.js") },
      { find: /^undercurve\/synthetics$/, replacement: at("../../wasm/js/synthetics.js") },
    ],
  },
  worker: { format: "es" },
  server: { fs: { allow: [at("../..")] } },
  build: { target: "es2022", license: { fileName: "licenses.md" } },
});
