/**
 * Where the time of a frame goes, as a page.
 *
 *     npm run profile [-- --out FILE] [--quick]
 *
 * Writes docs/profile.md where --out names no other. --quick shows that everything runs: its figures mean nothing, and
 * the page goes to standard output. The core is the released one with the names of its functions: build/profile/.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { format, resolveConfig } from "prettier";
import { machine } from "../machine.js";
import { KINDS } from "./kinds.js";
import { profileOf, type Profile } from "./measure.js";
import { page } from "./page.js";

const { values } = parseArgs({
  options: { out: { type: "string", default: "docs/profile.md" }, quick: { type: "boolean", default: false } },
});
// Names cost a compilation, and what is quick shows no figures.
const core = readFileSync(`build/${values.quick ? "release" : "profile"}/core.wasm`);

const profiles: Profile[] = [];
for (const kind of KINDS) {
  if (!values.quick) console.error(`profile: ${kind.name}`);
  profiles.push(await profileOf(kind, { core }, values.quick));
}
const { cpu, threads, node, v8 } = machine();
const on = `${cpu}, ${threads} threads, Node ${node}, V8 ${v8}, ${new Date().toISOString().slice(0, 10)}`;
const text = await format(page(profiles, on), { ...(await resolveConfig("docs/profile.md")), parser: "markdown" });
if (values.quick) process.stdout.write(text);
else writeFileSync(values.out, text);
