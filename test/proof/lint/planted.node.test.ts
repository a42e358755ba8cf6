/** Planted findings: each file of planted/ has the fault that its name begins with. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../../src/cli/check/findings.js";
import { IDENTITIES } from "../../../src/cli/check/identities.js";
import planted from "./planted.json" with { type: "json" };

const FOLDER = fileURLToPath(new URL("planted/", import.meta.url));

interface Planted {
  readonly file: string;
  /** The object at fault, by kind and name. */
  readonly object: string;
  /** Other findings that follow from the fault: identity, kind and name. */
  readonly also?: readonly string[];
}

/** The identity that the name of a file begins with: the longest that fits. */
function identityOf(file: string): string {
  const known = IDENTITIES.map(({ id }) => id).filter((id) => file.startsWith(`${id}-`));
  return known.sort((a, b) => b.length - a.length)[0] ?? "";
}

describe("a planted fault", () => {
  it.each(planted as readonly Planted[])("$file", async ({ file, object, also = [] }) => {
    const text = readFileSync(join(FOLDER, `${file}.json`), "utf8");
    const { refusals, findings } = await checkFile(file, text);
    expect(refusals).toEqual([]);
    const found = findings.map(({ id, objects: [first] }) => `${id} ${first?.kind} ${first?.name}`);
    expect(found.sort()).toEqual([`${identityOf(file)} ${object}`, ...also].sort());
    expect(findings.map(({ id, severity }) => ({ id, severity }))).toEqual(
      findings.map(({ id }) => ({ id, severity: IDENTITIES.find((one) => one.id === id)?.severity })),
    );
    // Each is at a place of the file: the first characters there begin a value.
    for (const { place } of findings) {
      const line = text.split("\n")[(place?.line ?? 0) - 1] ?? "";
      expect(line.slice((place?.column ?? 0) - 1)).toMatch(/^[\d"[{]/);
    }
  });

  it("is in each file", () => {
    const files = readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ""));
    expect(planted.map(({ file }) => file).sort()).toEqual(files.sort());
  });
});
