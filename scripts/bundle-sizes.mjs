/** What programs weigh that use a part of the package, as esbuild, rollup and webpack bundle them. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { rollup } from "@rollup/wasm-node";
import { build } from "esbuild";
import { minify } from "terser";
import webpack from "webpack";

/** Programs by name, with the limit of their minified bytes. What loads on demand does not count. */
const PROGRAMS = {
  "a constant": { limit: 1_000, text: 'import { IBV_QPT_RC } from "flowsteer/verbs"; console.log(IBV_QPT_RC);' },
  "a device with a rule": {
    limit: 250_000,
    text: `
      import { createDevice } from "flowsteer";
      import * as dv from "flowsteer/mlx5dv";
      const device = await createDevice();
      const domain = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device), dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
      const { mask, value } = dv.matchParameters({ "outer.tcp_dport": 80 });
      const matcher = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 1, mask);
      dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_drop()]);
      console.log(device.receive(1, new Uint8Array(60)).verdict);`,
  },
};

const BUNDLERS = { esbuild: byEsbuild, rollup: byRollup, webpack: byWebpack };

/**
 * The sizes of all programs.
 * @param {string} folder in whose node_modules the package is
 */
export async function* bundleSizes(folder) {
  for (const [program, { limit, text }] of Object.entries(PROGRAMS)) {
    const entry = join(folder, "program.mjs");
    writeFileSync(entry, text);
    for (const [bundler, sizeOf] of Object.entries(BUNDLERS)) {
      const out = join(folder, "bundled");
      mkdirSync(out, { recursive: true });
      yield { program, bundler, limit, bytes: await sizeOf(entry, out) };
      rmSync(out, { recursive: true });
    }
  }
}

async function byEsbuild(entry, outdir) {
  const options = { bundle: true, minify: true, format: "esm", splitting: true, write: false, metafile: true };
  const { outputs } = (await build({ entryPoints: [entry], outdir, target: "es2022", logLevel: "error", ...options }))
    .metafile;
  const first = Object.keys(outputs).find((name) => outputs[name].entryPoint?.endsWith("program.mjs"));
  const imports = (name) => outputs[name].imports.filter(({ kind }) => kind === "import-statement");
  return total(first, (name) => ({ bytes: outputs[name].bytes, imports: imports(name).map(({ path }) => path) }));
}

async function byRollup(input) {
  const bundle = await rollup({ input, plugins: [nodeResolve({ browser: true })] });
  const { output } = await bundle.generate({ format: "esm" });
  const sizes = new Map();
  for (const { fileName, code } of output) sizes.set(fileName, (await minify(code, { module: true })).code.length);
  const files = new Map(output.map((one) => [one.fileName, one]));
  return total(output[0].fileName, (name) => ({ bytes: sizes.get(name), imports: files.get(name).imports }));
}

function byWebpack(entry, path) {
  return new Promise((resolve, reject) => {
    const compiler = webpack({ mode: "production", entry, output: { path, filename: "main.js" }, performance: false });
    compiler.run((error, stats) => {
      const { assets = [], errors = [] } = stats?.toJson({ assets: true, errors: true }) ?? {};
      compiler.close(() => {
        if (error !== null || errors.length > 0)
          reject(error ?? new Error(errors.map(({ message }) => message).join("\n")));
        else resolve(assets.find(({ name }) => name === "main.js").size);
      });
    });
  });
}

/** The bytes of a file and of all that it imports, without what it loads on demand. */
function total(first, read) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return 0;
    seen.add(name);
    const { bytes, imports } = read(name);
    return imports.reduce((sum, next) => sum + visit(next), bytes);
  };
  return visit(first);
}
