// Writes test/golden/headers/VERSION.json: the functions and constants of infiniband/verbs.h and infiniband/mlx5dv.h, the
// values of the constants as a compiled C program prints them.
//
//     node scripts/golden-headers.mjs v44 /usr/include       Debian's libibverbs-dev 44.0
//     node scripts/golden-headers.mjs v65 INCLUDE            a tree of rdma-core 65.0, whose public headers are in
//                                                            INCLUDE/infiniband
//
// Needs gcc.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "prettier";

const [version, include] = process.argv.slice(2);
if (include === undefined) throw new Error("usage: golden-headers.mjs VERSION INCLUDE");

/** A header, the files that belong to it, and the beginnings of its names. */
const HEADERS = {
  verbs: { files: ["verbs.h", "verbs_api.h"], functions: /^(ibv|(mult|mbps)_to_ibv)_/, constants: /^IBV?_/ },
  mlx5dv: { files: ["mlx5dv.h", "mlx5_api.h"], functions: /^mlx5dv_/, constants: /^MLX5(DV)?_/ },
};

const folder = mkdtempSync(join(tmpdir(), "golden-headers-"));
const gcc = (...args) =>
  execFileSync("gcc", ["-I", include, "-mssse3", ...args], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "ignore"],
  });

/** What comes from the files of a header, after the preprocessor. */
function preprocessed(name, files) {
  const text = gcc("-E", `${name}.c`);
  let inside = false;
  const lines = text.split("\n").filter((line) => {
    const marker = /^# \d+ "(.*)"/.exec(line);
    if (marker !== null) inside = files.some((file) => marker[1].endsWith(`/infiniband/${file}`));
    return inside && marker === null;
  });
  return lines.join("\n");
}

function contentOf(name, { files, functions, constants }) {
  writeFileSync(join(folder, `${name}.c`), `#include <infiniband/${name}.h>\n`);
  const source = files.map((file) => readFileSync(join(include, "infiniband", file), "utf8")).join("\n");
  const code = source.replace(/\/\*[^]*?\*\//g, "").replace(/\/\/.*/g, "");
  // A declaration, a definition or a macro that takes arguments; not a member of a struct: (*name)(...).
  const called = [...code.matchAll(/\b(\w+)\s*\((?!\s*\*)/g)].map(([, word]) => word);
  const pre = preprocessed(name, files);
  const enumerators = [...pre.matchAll(/\benum\s+\w*\s*\{([^}]*)\}/g)].flatMap(([, body]) =>
    [...body.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, word]) => word),
  );
  const macros = [...gcc("-E", "-dM", `${name}.c`).matchAll(/^#define (\w+) (.+)$/gm)].map(([, word]) => word);
  const defined = new Set([...source.matchAll(/^\s*#\s*define\s+(\w+)\s/gm)].map(([, word]) => word));
  const names = [...new Set([...enumerators, ...macros.filter((word) => defined.has(word))])];
  return {
    functions: [...new Set(called)].filter((word) => functions.test(word)).sort(),
    constants: valuesOf(
      name,
      names.filter((word) => constants.test(word)),
    ),
  };
}

/** Values of names, by a C program. Names of macros that are no integers are left out. */
function valuesOf(name, names) {
  const program = (list) =>
    `#include <stdio.h>\n#include <infiniband/${name}.h>\nint main(void)\n{\n${list
      .map((word) => `\tprintf("%s %lld\\n", "${word}", (long long)(${word}));\n`)
      .join("")}\treturn 0;\n}\n`;
  const compiles = (list) => {
    writeFileSync(join(folder, "values.c"), program(list));
    try {
      gcc("-w", "-o", "values", "values.c");
      return true;
    } catch {
      return false;
    }
  };
  const known = compiles(names) ? names : names.filter((word) => compiles([word]));
  if (!compiles(known)) throw new Error(`${name}.h: the program does not compile`);
  const lines = execFileSync(join(folder, "values"), { encoding: "utf8" }).trim().split("\n");
  const values = lines.map((line) => line.split(" ")).map(([word, value]) => [word, Number(value)]);
  return Object.fromEntries(values.sort(([a], [b]) => (a < b ? -1 : 1)));
}

try {
  const headers = Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [name, contentOf(name, header)]));
  mkdirSync("test/golden/headers", { recursive: true });
  const file = `test/golden/headers/${version}.json`;
  writeFileSync(file, await format(JSON.stringify({ version, ...headers }), { parser: "json", printWidth: 120 }));
  for (const [name, { functions, constants }] of Object.entries(headers)) {
    console.log(`${name}.h: ${functions.length} functions, ${Object.keys(constants).length} constants`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
