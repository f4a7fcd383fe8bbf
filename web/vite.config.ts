// How the page is built: fixed names, no date, no source map, so that the same sources give the same bytes anywhere.
import { defineConfig } from "vite";

/** Which part of the page a package belongs to; each part is one file with a fixed name. */
const PARTS: [RegExp, string][] = [
  [/node_modules\/(@codemirror\/(?!lang-)|@lezer\/(common|highlight|lr)\/|crelt|style-mod|w3c-keyname|@marijn)/, "editor"],
  [/node_modules\/(@codemirror\/lang-javascript|@lezer\/javascript)\//, "ecmascript"],
  [/node_modules\/@xterm\//, "xterm"],
  [/node_modules\/d3-/, "force"],
  [/node_modules\/(preact|@preact|capnweb|marked|dompurify)\//, "vendor"],
];

export default defineConfig({
  base: "./",
  publicDir: "public",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/workspace": { target: process.env["MONAS_URL"] ?? "http://127.0.0.1:8080", ws: true } } },
  build: {
    target: "es2023",
    outDir: process.env["MONAS_PAGE_OUT"] ?? "dist",
    emptyOutDir: true,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: {
          groups: PARTS.map(([test, name]) => ({ name, test })),
        },
      },
    },
  },
});
