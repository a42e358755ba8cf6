/**
 * The bundler makes a chunk for each set of programs and late parts that share code: dozens for a page that needs most of them
 * at once. Each is a request, and is compressed for itself. This step makes one chunk of those that a program reads at its start.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { build } from "esbuild";

/** As the bundler writes them: `import{a as b}from"./engine-ABC.js"`, `export{b as a};`. */
const FROM = /\b(import|export)\s*\{([^}]*)\}\s*from\s*"\.\/([^"]+)"/g;
const BARE = /\bimport\s*"\.\/([^"]+)"/g;
const EXPORTS = /\bexport\s*\{([^}]*)\};?\s*$/;

/**
 * The files of a program, by name, with one chunk in place of those that its start shares with late parts.
 * @param result of the bundler, with its metafile
 * @param program the name of the entry point
 * @param late modules that are imported late, and at each start
 * @param options how the bundler writes a module
 */
export async function withStartChunk({ outputFiles, metafile }, program, late, options) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const parts = new Map(Object.entries(metafile.outputs).map(([path, part]) => [basename(path), part]));
  const entries = [...parts].flatMap(([name, { entryPoint }]) => (late.includes(entryPoint) ? [name] : []));
  if (entries.length !== late.length) throw new Error(`${program} does not import all of ${late.join(", ")}`);
  const read = [`${program}.js`, ...entries].flatMap((entry) => [...readBy(parts, entry)]);
  const chunks = [...new Set(read)].filter((name) => parts.get(name).entryPoint === undefined);
  const numbers = new Map(chunks.map((name, n) => [name, n]));
  for (const [name, text] of texts) texts.set(name, withUniqueNames(text, numbers, numbers.get(name)));
  const text = await joined(new Map(chunks.map((name) => [name, texts.get(name)])), options);
  const start = `${program}-${createHash("sha256").update(text).digest("hex").slice(0, 8).toUpperCase()}.js`;
  for (const chunk of chunks) texts.delete(chunk);
  for (const [name, old] of texts)
    texts.set(
      name,
      old
        .replace(FROM, (all, word, names, path) => (numbers.has(path) ? `${word}{${names}}from"./${start}"` : all))
        .replace(BARE, (all, path) => (numbers.has(path) ? `import"./${start}"` : all)),
    );
  return texts.set(start, text);
}

/** A file and its static imports, transitively. */
function readBy(parts, entry) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { path, kind, external } of parts.get(name).imports)
      if (kind === "import-statement" && !external) visit(basename(path));
  };
  visit(entry);
  return seen;
}

/** Chunks call their exports a, b, c: with the number of the chunk they differ. @param own the number of this one */
function withUniqueNames(text, numbers, own) {
  const parts = (names) => names.split(",").map((one) => one.trim().split(/\s+as\s+/));
  const unique = (number, name) => `${name}$${number}`;
  const imported = text.replace(FROM, (all, word, names, path) => {
    const number = numbers.get(path);
    if (number === undefined || names.trim() === "") return all;
    const own = parts(names).map(([name, as = name]) => `${unique(number, name)} as ${as}`);
    return `${word}{${own.join(",")}}from"./${path}"`;
  });
  if (own === undefined) return imported;
  return imported.replace(EXPORTS, (_, names) => {
    return `export{${parts(names)
      .map(([name, as = name]) => `${name} as ${unique(own, as)}`)
      .join(",")}};`;
  });
}

/** One module that exports all that these chunks export. */
async function joined(chunks, options) {
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
    splitting: false,
    stdin: { contents },
    write: false,
    plugins: [memory],
  });
  return outputFiles[0].text;
}
