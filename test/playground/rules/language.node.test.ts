/** What the language worker completes and describes. */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CompletionItem, Language } from "../../../playground/src/rules/language/api.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const EXAMPLE = readFileSync(join(ROOT, "examples/why-vxlan.json"), "utf8");

let language: Language;
let folder: string;
beforeAll(async () => {
  // Bundled as for the worker: Node reads another build of the language service.
  folder = await mkdtemp(join(tmpdir(), "flowsteer-language-"));
  const outfile = join(folder, "service.mjs");
  await build({
    entryPoints: [join(ROOT, "playground/src/rules/language/service.ts")],
    tsconfig: join(ROOT, "playground/tsconfig.json"),
    define: { "import.meta.bundled": "true" },
    bundle: true,
    format: "esm",
    platform: "browser",
    outfile,
    logLevel: "error",
  });
  const { SchemaLanguage } = (await import(pathToFileURL(outfile).href)) as {
    SchemaLanguage: new (schema: object) => Language;
  };
  const schema = readFileSync(join(ROOT, "schema/scenario-1.schema.json"), "utf8");
  language = new SchemaLanguage(JSON.parse(schema) as object);
});
afterAll(() => rm(folder, { recursive: true }));

/** The example with a text in place of another; ¦ is the cursor. */
function edited(before: string, after: string): { readonly text: string; readonly offset: number } {
  const marked = EXAMPLE.replace(before, () => after);
  expect(marked).toContain("¦");
  return { text: marked.replace("¦", ""), offset: marked.indexOf("¦") };
}

/** The completions, and the text with one of them put in, its places empty. */
async function completed(before: string, after: string, label: string): Promise<{ labels: string[]; text: string }> {
  const { text, offset } = edited(before, after);
  const found = await language.complete(text, offset);
  const items: readonly CompletionItem[] = found?.items ?? [];
  const item = items.find((one) => one.label === label);
  expect(item, items.map((one) => one.label).join(" ")).toBeDefined();
  const put = (item?.snippet ?? "").replace(/\$\{([^}]*)\}/g, "$1").replace(/\\([{}])/g, "$1");
  const whole = text.slice(0, found?.from) + put + text.slice(found?.to);
  return { labels: items.map((one) => one.label), text: whole };
}

test.each([
  ["a key, with the comma that follows", '"name": "to blue", ', '"name": "to blue", ¦', "match", '{},"table"'],
  ["a key that is half written", '"name": "to blue", ', '"name": "to blue",\n"ma¦\n', "match", '"match": {},\n'],
  ["a key before a colon", '"function": 1 }', '"fu¦": 1 }', "function", '"function": 1 }'],
  ["a section", '"queues": [', '¦ "queues": [', "counters", '"counters": [], "queues"'],
  ["a match field", '"match": { "misc', '"match": { "out¦", "misc', "outer.tcp_dport", '"outer.tcp_dport": , "misc'],
  ["a value of a field", '"outer.ipv4_dst": "203.0.113.0/24"', '"outer.ipv4_dst": ¦', "10.0.0.0/8", ': "10.0.0.0/8",'],
  ["a word of the schema", '"domain": "fdb"', '"domain": "n¦"', "nic_tx", '"domain": "nic_tx"'],
  ["the name of a queue", '[{ "queue": "blue" }]', '[{ "queue": "¦" }]', "green", '[{ "queue": "green" }]'],
  ["the name of a table", '"table": "overlay"', '"table": ¦', "blue gets", '"table": "blue gets"'],
  ["a destination", '["qp:blue"]', '["¦"]', "qp:green", '["qp:green"]'],
  ["an action before another", '"actions": [{ "queue"', '"actions": [¦{ "queue"', "tag", '[{ "tag": 0 },{ "queue"'],
  ["an action after another", '{ "queue": "blue" }]', '{ "queue": "blue" }, ¦]', "count", ', { "count": "" }]'],
  ["a word among actions", '{ "queue": "blue" }]', "¦]", "drop", '["drop"]'],
  ["a header", '"header": "ethernet"', '"header": "¦"', "vlan", '"header": "vlan"'],
  ["a field that is changed", '"vport": 1', '"modify": [{ "set": "¦" }]', "outer.dmac", '"set": "outer.dmac"'],
  ["a queue", '"queues": [', '"queues": [¦', "new queue", '"queues": [{ "name": "web" },'],
])("%s is completed", async (_what, before, after, label, expected) => {
  const { text } = await completed(before, after, label);
  expect(text).toContain(expected);
});

test("names are those of the document alone", async () => {
  const { labels } = await completed('[{ "queue": "blue" }]', '[{ "queue": "¦" }]', "green");
  expect(labels).toEqual(["blue", "green"]);
});

test("whole rules have the keys that rules need", async () => {
  const { text } = await completed('"rules": [', '"rules": [¦', "new rule");
  expect(text).toContain('"table": "root",');
});

test.each([
  ['"misc.vxlan_vni"', "misc.vxlan_vni", "24 bits"],
  ['"domain": "fdb"', null, "the eSwitch"],
  ['"vport": 1', "vport", "A function."],
  ['"queue": "blue"', "queue", "Delivers to the queue"],
])("%s is described", async (part, name, about) => {
  const offset = EXAMPLE.indexOf(part) + (name === null ? part.length - 2 : 2);
  const found = await language.describe(EXAMPLE, offset);
  if (name !== null) expect(found?.name).toBe(name);
  expect(found?.lines.join(" ")).toContain(about);
});

test("a name says which object has it", async () => {
  const found = await language.describe(EXAMPLE, EXAMPLE.indexOf('"queue": "blue"') + 12);
  expect(found).toMatchObject({ name: "blue", definition: "queues[0]" });
});

test("all over an example, text is completed and described without a fault", async () => {
  const text = readFileSync(join(ROOT, "examples/state-firewall.json"), "utf8");
  for (let offset = 0; offset <= text.length; offset += 151) {
    await language.complete(text, offset);
    await language.describe(text, offset);
    await language.complete(text.slice(0, offset), offset);
  }
});

test("text that is no document has no language", async () => {
  expect(await language.describe("", 0)).toBeNull();
  expect(await language.complete("[".repeat(3_000_000), 5)).toBeNull();
  expect(await language.complete("[".repeat(100_000), 100_000)).toBeNull();
  expect(await language.describe('{"a":'.repeat(100_000), 3)).toBeNull();
});
