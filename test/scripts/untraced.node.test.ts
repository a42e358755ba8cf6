/** Cores other than the traced one are compiled from sources without events. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CORE_CALLS } from "../../src/engine/coreExports.js";
import { withoutTraced } from "../../scripts/untraced.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
describe("withoutTraced", () => {
  it("blanks statements and blocks, and keeps every place", () => {
    const text = "a();\nif (TRACED) note(b, c);\nif (TRACED) {\n  if (d) {\n    note(e);\n  }\n}\nf();\n";
    const blank = withoutTraced(text);
    expect(blank.length).toBe(text.length);
    expect(blank.replace(/\s+/g, " ")).toBe("a(); f(); ");
    expect(blank.indexOf("f();")).toBe(text.indexOf("f();"));
  });

  it("leaves no export of the traced core in the release core", async () => {
    const traced = await WebAssembly.compile(readFileSync(join(ROOT, "build/traced/core.wasm")));
    const release: readonly string[] = CORE_CALLS;
    const names = WebAssembly.Module.exports(traced).flatMap(({ kind, name }) => (kind === "function" ? [name] : []));
    expect(names.filter((name) => !release.includes(name)).sort()).toEqual([
      "actionsAt",
      "eventsEnd",
      "eventsLost",
      "listNearest",
      "listRules",
      "openCopy",
      "openTrace",
      "ruleCount",
      "stageRule",
    ]);
    expect(release.filter((name) => !names.includes(name))).toEqual([]);
  });
});
