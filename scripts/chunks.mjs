/**
 * Reduces the number of files that a start reads. The bundler makes one chunk for each set of entry
 * points that share code: a dozen for a program that uses two of them. Each file, and each name
 * that crosses files, costs start-up time. This step merges the chunks that most programs load
 * together.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { build } from "esbuild";
import { minify } from "terser";

/** Entry points: the chunks that each loads, and no earlier one does, are merged. */
const STARTS = ["index", "mlx5dv"];

/**
 * An import without names, which only keeps order. No module here has side effects (package.json,
 * sideEffects).
 */
const BARE = /\bimport\s*"\.\/[^"]+";/g;

/**
 * Names inside functions get short, a sixth of the source. Functions, classes and what modules share
 * keep theirs: stacks and messages show them.
 */
const LOCAL_NAMES = {
  ecma: 2022,
  parse: { module: true },
  compress: { module: true, keep_fnames: true, keep_classnames: true, inline: 0, reduce_funcs: false, passes: 2 },
  mangle: { toplevel: false, keep_fnames: true, keep_classnames: true },
};

/** Terser shortens private names too, unless they look like others. */
const PRIVATE = "$private$";

/**
 * The files of a split bundle, by name, with one merged chunk for each start.
 * @param bundle the result of the bundler, with its metafile
 * @param options the bundler's output options
 */
export async function mergeChunks({ outputFiles, metafile }, options) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text.replace(BARE, "")]));
  const parts = new Map(Object.entries(metafile.outputs).map(([path, part]) => [basename(path), part]));
  const merged = new Set();
  for (const entry of STARTS) {
    const chunks = readBy(parts, `${entry}.js`).filter((name) => name.startsWith("chunk-") && !merged.has(name));
    for (const name of chunks) merged.add(name);
    const names = chunks.flatMap((name) => parts.get(name).exports);
    const text = await shortened(
      await joined(new Map(chunks.map((name) => [name, texts.get(name)])), names, options),
      options.lineLimit,
    );
    const name = `chunk-${createHash("sha256").update(text).digest("hex").slice(0, 8).toUpperCase()}.js`;
    for (const chunk of chunks) texts.delete(chunk);
    texts.set(name, text);
    for (const [file, old] of texts) texts.set(file, renamed(old, chunks, name));
  }
  return texts;
}

/** A file and its static imports, transitively. */
function readBy(parts, entry) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { path, kind, external } of parts.get(name).imports) {
      if (kind === "import-statement" && !external) visit(basename(path));
    }
  };
  visit(entry);
  return [...seen];
}

/**
 * One module that exports everything that these chunks export. @throws two of them export the same
 * name
 */
async function joined(chunks, names, options) {
  const twice = names.filter((name, i) => names.indexOf(name) !== i);
  if (twice.length > 0) throw new Error(`chunks that become one export the same names: ${twice.join(", ")}`);
  const memory = {
    name: "memory",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind !== "dynamic-import" && chunks.has(basename(path))
          ? { path: basename(path), namespace: "chunk" }
          : { path, external: true },
      );
      onLoad({ filter: /./, namespace: "chunk" }, ({ path }) => ({ contents: chunks.get(path) }));
    },
  };
  const contents = [...chunks.keys()].map((name) => `export * from ${JSON.stringify(`./${name}`)};`).join("\n");
  const { outputFiles } = await build({
    ...options,
    stdin: { contents },
    bundle: true,
    write: false,
    plugins: [memory],
  });
  return outputFiles[0].text;
}

async function shortened(text, lineLimit) {
  const format = { ascii_only: true, comments: false, keep_quoted_props: true, max_line_len: lineLimit };
  const { code } = await minify(
    text.replace(/#(?=\w)/g, () => PRIVATE),
    { ...LOCAL_NAMES, format },
  );
  return code.replaceAll(PRIVATE, "#");
}

function renamed(text, chunks, name) {
  return chunks.reduce((result, chunk) => result.replaceAll(`"./${chunk}"`, `"./${name}"`), text);
}
