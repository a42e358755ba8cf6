/** The findings on the examples, judged by hand. Another finding needs a judgement here before the test accepts it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkFile } from "../../../src/cli/check/findings.js";
import { root } from "../../cli/support/command.js";

/** By file: identity, kind and name of the object; and why the finding is right. */
const JUDGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "cover-dead.json": {
    "contradiction rule dns over tcp": "UDP has no TCP port",
    "dead-rule rule web servers": "two rules before it take all ports",
    "unreached-rule rule ftp": "it asks for TCP in a table of UDP frames",
    "unreached-table table old": "no rule leads there",
  },
  "messages.json": {
    "unused-queue queue rest": "no flow and no message names it",
  },
  "rules-mirror.json": {
    "field-beyond-connectx rule mirror what comes": "ext.port is a field of flowsteer",
  },
  "tunnel.json": {
    "field-beyond-connectx rule second port": "ext.port is a field of flowsteer",
  },
  "why-vf.json": {
    "no-default-flow vport 2": "the fault that the example shows",
    "unused-queue queue vm2": "the queue of the function without a default flow",
  },
};

const FOLDER = join(root, "examples");

it("are those that a reader would call right", async () => {
  const found: Record<string, string[]> = {};
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
    const { findings } = await checkFile(file, readFileSync(join(FOLDER, file), "utf8"));
    const lines = findings.map(({ id, objects: [first] }) => `${id} ${first?.kind} ${first?.name}`);
    if (lines.length > 0) found[file] = lines.sort();
  }
  const judged = Object.entries(JUDGED).map(([file, why]) => [file, Object.keys(why).sort()]);
  expect(found).toEqual(Object.fromEntries(judged));
});
