/** What the recorder writes is what the importer reads. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { textsIn } from "../../campaign/files.js";

const SOURCE = textsIn("native", /^flowsteer-record\.c$/).map(({ text }) => text)[0] ?? "";
const CALL = '{"call":"ibv_create_cq"';

test("every argument that the recorder writes is known", () => {
  const written = [
    ...SOURCE.matchAll(/\((?:&line|line), "(\w+)",/g),
    ...SOURCE.matchAll(/^DESTROYS\(\w+, struct \w+, (\w+)\)/gm),
  ].map(([, name = ""]) => name);
  expect(new Set(written).size).toBeGreaterThan(40);
  // Of structures within an argument.
  const nested = ["val"];
  for (const name of new Set(written)) {
    const { findings } = importRules(`${CALL},"${name}":null,"returns":"0x1"}`, { format: "recording", lenient: true });
    const unknown = findings.filter(({ text }) => text === name);
    expect(unknown.length, name).toBe(nested.includes(name) ? 1 : 0);
  }
});

test("an argument that is misspelt, and bytes that are none", () => {
  const { findings } = importRules(`${CALL},"comp_msk":0,"mask":"0g","returns":"0x1"}`, {
    format: "recording",
    lenient: true,
  });
  expect(findings.map(({ severity, text }) => [severity, text])).toEqual([
    ["assumed", "comp_msk"],
    ["refused", "mask 0g"],
    expect.anything(),
  ]);
});
