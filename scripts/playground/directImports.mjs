/**
 * A step of the bundler: what the playground imports from an entry point of the package comes from the module that
 * has it. Through the entry point, each chunk of a split bundle would have everything that the entry point exports.
 */
import { readFileSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";

const IMPORT = /^import \{([^}]*)\} from "(flowsteer(?:\/\w+)?)";/gm;
const EXPORT = /^export \{([^}]*)\} from "(\.[^"]*)";/gm;

/**
 * @param root the folder of the package
 * @param filter the files whose imports are rewritten
 */
export function directImports(root, filter) {
  const known = new Map();
  const modulesOf = (entry) => {
    if (!known.has(entry))
      known.set(entry, exportsOf(join(root, "src", entry.replace(/^flowsteer\/?/, ""), "index.ts")));
    return known.get(entry);
  };
  return {
    name: "direct-imports",
    setup({ onLoad }) {
      onLoad({ filter }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replace(IMPORT, (_, names, entry) =>
          direct(names, modulesOf(entry), entry),
        ),
        loader: extname(path).slice(1),
        resolveDir: dirname(path),
      }));
    },
  };
}

/** The module of each value that an entry point exports. */
function exportsOf(entry) {
  const modules = new Map();
  for (const [, names, from] of readFileSync(entry, "utf8").matchAll(EXPORT)) {
    for (const name of valuesOf(names)) modules.set(name, resolve(dirname(entry), from.replace(/\.js$/, ".ts")));
  }
  return modules;
}

function direct(names, modules, entry) {
  return valuesOf(names)
    .map((name) => {
      const from = modules.get(name);
      if (from === undefined) throw new Error(`${entry} exports no value ${name}`);
      return `import { ${name} } from ${JSON.stringify(from)};`;
    })
    .join(" ");
}

/** Names without types. */
function valuesOf(names) {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "));
}
