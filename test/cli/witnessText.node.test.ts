/** What reports print of a witness, pasted back, gives the same frame from the same source, which hits the same rule. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { cover } from "../../src/explain/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { witnessText } from "../../src/cli/report/coverText.js";
import { wrapped } from "../../src/cli/text.js";
import type { TraceLine } from "../../src/cli/report/explainLines.js";
import { DEEP } from "../support/tier.js";
import { flowsteer, root, scratch } from "./support/command.js";

const EXAMPLES = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".json"));
const SOME = ["rules-eswitch.json", "flows-sending.json", "tunnel.json", "ports.json", "cover-dead.json"];

async function traced(args: readonly string[]): Promise<TraceLine["trace"]> {
  const { code, out, err } = await flowsteer(["trace", ...args, "--json", "--quiet"]);
  expect({ code, err }, args.join(" ")).toEqual({ code: 0, err: "" });
  return (JSON.parse(out) as TraceLine).trace;
}

/** The rules of the report of `cover`, with what stands after the name of each. */
function liveTexts(out: string): string[] {
  return out
    .replace(/\n {11}/g, " ")
    .split("\n")
    .flatMap((line) => /^ {2}live {5}(?:\w+ )*".*?" {2}(.*)$/.exec(line)?.slice(1) ?? []);
}

describe.each(DEEP ? EXAMPLES : SOME)("witnesses of %s", (name) => {
  it("are printed as trace takes them", { timeout: 120_000 }, async () => {
    const scenario = `examples/${name}`;
    const { device } = await loadScenario(readFileSync(join(root, scenario), "utf8"));
    for (const { rule, coverage } of (await cover(device)).rules) {
      if (coverage.status !== "witness") continue;
      const text = witnessText(device, coverage.witness);
      if (coverage.witness.before.length > 0) {
        expect(text).toMatch(/, after \d+ frames?$/);
        const refused = await flowsteer(["trace", scenario, "--packet", text]);
        expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--out FOLDER") as string });
        continue;
      }
      const [printed = ""] = liveTexts(`  live     "x"  ${wrapped(text, 60, "", " ".repeat(11))}`);
      const { bytes, from, metadata = 0 } = coverage.witness;
      const trace = await traced([scenario, "--packet", printed]);
      expect({ bytes: trace.frame.bytes, from: trace.from }).toEqual({ bytes, from });
      expect(/register A (0x[\da-f]+)/.exec(printed)?.[1] ?? "0x0").toBe(`0x${metadata.toString(16)}`);
      expect(JSON.stringify(trace)).toContain(JSON.stringify(rule.name.split(" = ")[0]));
    }
  });
});

const PLANTED = "test/proof/lint/planted";

test("check prints frames that trace takes", { timeout: 240_000 }, async () => {
  let frames = 0;
  for (const file of readdirSync(join(root, PLANTED))) {
    const { out } = await flowsteer(["check", `${PLANTED}/${file}`, "--quiet"]);
    for (const [, at, source = "", hex = ""] of out.matchAll(/^ {2}frame (at port|sent by) (.+): ([\da-f]+)$/gm)) {
      const [from = "", metadata] = source.split(" with register A ");
      const option = at === "at port" ? ["--port", from] : ["--from", from];
      const args = ["--hex", hex, ...option, ...(metadata === undefined ? [] : ["--metadata", metadata])];
      expect((await traced([`${PLANTED}/${file}`, ...args])).frame.bytes).toBe(hex);
      frames++;
    }
  }
  expect(frames).toBeGreaterThan(5);
});

const SENDER = {
  flowsteer: 1,
  queues: [{ name: "a" }, { name: "b, c" }],
  tables: [
    { name: "sent", level: 0, domain: "nic_tx" },
    { name: "marked", level: 1, domain: "nic_tx" },
  ],
  rules: [
    { name: "all", table: "sent", match: {}, actions: [{ table: "marked" }] },
    {
      name: "seven",
      table: "marked",
      match: { "misc2.metadata_reg_a": 7, "outer.ip_dscp": 9, "outer.tcp_dport": 80 },
      actions: ["drop"],
    },
  ],
};

test("a frame with register A and fields that no builder fills in", async () => {
  const scenario = scratch("sender.json", JSON.stringify(SENDER));
  const [, text = ""] = liveTexts((await flowsteer(["cover", scenario])).out);
  expect(text).toMatch(/dscp 9.*, sent by qp:a with register A 0x7$/);
  expect((await traced([scenario, "--packet", text])).outcome.rules.at(-1)).toBe("seven");
  const packet = text.replace(/, sent by.*/, "");
  for (const from of ["a", "qp:a", "b, c", "qp:b, c"]) {
    for (const written of ["7", "0x7"]) {
      const trace = await traced([scenario, "--packet", packet, "--from", from, "--metadata", written]);
      expect(trace.outcome.rules.at(-1)).toBe("seven");
    }
  }
  expect((await traced([scenario, "--packet", text, "--metadata", "8"])).outcome.rules).not.toContain("seven");
});

test.each([
  [["--metadata", "7"], "add --from QUEUE"],
  [["--from", "a", "--metadata", "4294967296"], "a number of 32 bits"],
  [["--from", "a", "--port", "1"], "cannot be used together"],
])("refuses %j", async (args, reason) => {
  const scenario = scratch("sender.json", JSON.stringify(SENDER));
  const refused = await flowsteer(["trace", scenario, "--packet", "eth", ...args]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(reason) as string });
});
