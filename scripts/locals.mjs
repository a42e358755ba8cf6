/**
 * Short names for what is local to a function; what stacks show (functions of a module, classes, methods) keeps its name, which the
 * bundler, asked for short names, would not leave.
 *
 * The names at the top of a script are known to other scripts, so the bundler leaves those alone. So a module is made a script: its
 * imports and exports are put aside, and private names, which are never known to others, become names of properties.
 */
import { transform } from "esbuild";

const STRICT = '"use strict";';
const IMPORT = /\bimport\s*\{[^}]*\}\s*from\s*"[^"]*";/g;
const EXPORT = /\bexport\s*\{[^}]*\};\s*$/;

/** What stands for `#` where a keyword may stand before it, for `#`, and for `import.meta`. Reading and writing them back leaves strings as they are. */
const BEHIND_WORD = "$$$_";
const PRIVATE = "$$_";
const META = "$$meta";

/**
 * The text of a module as the bundler writes it, with short names for locals.
 * @param options those of the bundler that say how text is written
 */
export async function shortenLocals(text, { target, lineLimit }) {
  if (text.includes("$$")) throw new Error("a name of the bundle is one of those that stand for private ones");
  const start = (text.match(IMPORT) ?? []).join("");
  const end = EXPORT.exec(text)?.[0] ?? "";
  const body = text.slice(0, text.length - end.length).replace(IMPORT, "");
  const script = withoutInnerNames(body)
    .replace(/(?<=\w)#(?=[A-Za-z])/g, () => ` ${BEHIND_WORD}`)
    .replace(/#(?=[A-Za-z])/g, () => PRIVATE)
    .replaceAll("import.meta", () => META);
  const options = { target, lineLimit, minifyIdentifiers: true, minifyWhitespace: true };
  const { code } = await transform(STRICT + script, options);
  const short = code
    .slice(STRICT.length)
    .replaceAll(` ${BEHIND_WORD}`, "#")
    .replaceAll(PRIVATE, "#")
    .replaceAll(META, "import.meta");
  if (short.includes("$$")) throw new Error("a private name was not written back");
  return start + short + end;
}

/** The bundler gives a class that speaks of itself a second name inside, `Rule = class _Rule`, which messages would show. */
function withoutInnerNames(body) {
  const names = [...body.matchAll(/\b(\w+)=class _\1\b/g)].map(([, name]) => name);
  return names.reduce(
    (text, name) =>
      text.replace(`${name}=class _${name}`, `${name}=class`).replace(new RegExp(`\\b_${name}\\b`, "g"), name),
    body,
  );
}
