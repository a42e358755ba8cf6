/** Planted findings: each file of planted/ has the fault that its name begins with. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../../src/cli/check/findings.js";
import { IDENTITIES } from "../../../src/cli/check/identities.js";
import type { FindingLine } from "../../../src/cli/report/checkLines.js";
import type { Outcome } from "../../../src/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { sampleOf } from "../../support/tier.js";
import planted from "./planted.json" with { type: "json" };

const FOLDER = fileURLToPath(new URL("planted/", import.meta.url));

interface Planted {
  readonly file: string;
  /** The object at fault, by kind and name. */
  readonly object: string;
  /** Other findings that follow from the fault: identity, kind and name. */
  readonly also?: readonly string[];
}

/** The reason of the outcome of a witness, where it shows the fault. */
const REASONS: Readonly<Record<string, string>> = {
  loop: "hop_limit",
  "decapsulation-without-tunnel": "not_a_tunnel",
  "receive-buffer": "receive_buffer_too_short",
};

/** The identity that the name of a file begins with: the longest that fits. */
function identityOf(file: string): string {
  const known = IDENTITIES.map(({ id }) => id).filter((id) => file.startsWith(`${id}-`));
  return known.sort((a, b) => b.length - a.length)[0] ?? "";
}

/** Runs the witnesses on the engine. */
async function expectShown(text: string, findings: readonly FindingLine[]): Promise<void> {
  for (const { id, objects, witness } of findings) {
    if (witness === null) continue;
    const loaded = await loadScenario(text);
    const { from, before } = witness;
    expect({ kind: from.kind, before }).toEqual({ kind: id === "only-looped-back" ? "queue" : "wire", before: [] });
    const source = from.kind === "wire" ? { port: from.port } : { send: from.queue.replace(/^qp:/, "") };
    const [outcome] = loaded.run([{ bytes: bytesOf(witness.bytes), ...source }]);
    const { rules, reason } = outcome as Outcome;
    const ends = REASONS[id];
    if (ends !== undefined) expect(reason).toBe(ends);
    else if (id === "only-looped-back") expect(rules.map(({ name }) => name)).toEqual([objects[0]?.name]);
    // The rule that was made first takes the frame.
    else expect(rules.map(({ name }) => name)).toContain(objects[1]?.name);
  }
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

describe("a planted fault", () => {
  it.each(sampleOf<Planted>(planted))("$file", async ({ file, object, also = [] }) => {
    const text = readFileSync(join(FOLDER, `${file}.json`), "utf8");
    const { refusals, findings } = await checkFile(file, text);
    expect(refusals).toEqual([]);
    const found = findings.map(({ id, objects: [first] }) => `${id} ${first?.kind} ${first?.name}`);
    expect(found.sort()).toEqual([`${identityOf(file)} ${object}`, ...also].sort());
    expect(findings.map(({ id, severity }) => ({ id, severity }))).toEqual(
      findings.map(({ id }) => ({ id, severity: IDENTITIES.find((one) => one.id === id)?.severity })),
    );
    await expectShown(text, findings);
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
