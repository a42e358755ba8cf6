/** What tc prints of filters (scripts/golden-tc.mjs): the same rules as from the commands that make them. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import type { Scenario } from "../../../src/scenario/index.js";

interface Row {
  readonly filter: string;
  readonly text: string;
  readonly json: string;
}
const ROWS = JSON.parse(
  readFileSync(new URL("../../golden/tc/listings.json", import.meta.url), "utf8"),
) as readonly Row[];

const importOf = (text: string): { scenario: Scenario; refused: string[] } => {
  const { scenario, findings } = importRules(text, { lenient: true, map: { eth0: "uplink", eth1: "vf1" } });
  const refused = findings.filter(({ severity }) => severity === "refused").map(({ reason }) => reason);
  const { notImported: _, ...rest } = scenario ?? { flowsteer: 1 };
  const rules = (rest.rules ?? []).map((rule) => ({ ...rule, notImported: rule.notImported?.toSorted() }));
  return { scenario: { ...rest, rules } as Scenario, refused: refused.toSorted() };
};

describe.each(ROWS)("$filter", ({ filter, text, json }) => {
  const command = importOf(`tc filter add dev eth0 ingress handle 0x1 ${filter}`);

  test("as text", () => {
    const listed = importOf(`# tc filter show dev eth0 ingress\n${text}`);
    expect(listed.refused).toEqual(command.refused);
    expect(listed.scenario).toEqual(command.scenario);
  });

  test("as JSON", () => {
    const listed = importOf(`# tc -j filter show dev eth0 ingress\n${json}`);
    if (/"kind":"police","index":\d+,"control_action"/.test(json)) {
      expect(listed.refused.join()).toContain("leaves its rate out of the JSON");
      return;
    }
    expect(listed.refused).toEqual(command.refused);
    expect(listed.scenario).toEqual(command.scenario);
  });
});

describe("as people paste it", () => {
  const LISTING = `> $ tc -s filter show dev enp8s0f0_1 ingress
> filter protocol ip pref 4 flower chain 0
> filter protocol ip pref 4 flower chain 0 handle 0x1
>   dst_mac 02:40:bd:30:89:99
>   eth_type ipv4
>   ip_tos 0/0x3
>   in_hw in_hw_count 1
>         action order 1: mirred (Egress Redirect to device enp8s0f0_2) stolen
>         index 4 ref 1 bind 1 installed 434 sec used 0 sec
>         Action statistics:
>         Sent 129936 bytes 1082 pkt (dropped 0, overlimits 0 requeues 0)
>         Sent hardware 129936 bytes 1082 pkt
>         backlog 0b 0p requeues 0
>         cookie ac17cf398c4c69e4a5b2f7aabd1b88ff
>         no_percpu
>         used_hw_stats delayed
>
> filter protocol ip pref 4 flower chain 0 handle 0x2
>   src_ip 10.0.0.1
>   not_in_hw
>         action order 1: gact action drop
>          random type none pass val 0

That is all.`;

  test("quoted, with statistics", () => {
    const { scenario, findings } = importRules(LISTING);
    const rules = (scenario?.rules ?? []).filter(({ table }) => table === "enp8s0f0_1");
    expect(rules.map(({ name, actions }) => ({ name, actions }))).toEqual([
      { name: "enp8s0f0_1 prio 4 handle 0x1", actions: [{ vport: 3 }] },
    ]);
    expect(findings.map(({ line, column, text }) => [line, column, text])).toContainEqual([20, 5, "filter of prio 4"]);
    expect(findings.map(({ text }) => text)).toContain("That is all.");
  });

  test("a key that tc has and the device has not, with its place", () => {
    const { findings } = importRules(LISTING.replace("src_ip 10.0.0.1", "arp_op reply"));
    const [refused] = findings.filter(({ severity }) => severity === "refused");
    expect(refused).toMatchObject({ line: 19, column: 5, text: "arp_op", reason: "the device does not match ARP" });
  });

  test("without its device", () => {
    const { findings } = importRules(
      "filter protocol all pref 1 matchall chain 0 handle 0x1\n  in_hw\n\taction order 1: gact action drop",
    );
    expect(findings.map(({ reason }) => reason).join()).toContain("the listing does not name its device; eth0 assumed");
  });

  test("JSON that tc itself broke", () => {
    const json =
      '[{"protocol":"ip","pref":1,"kind":"flower","chain":0,"options":{"handle":1,"actions":[{"order":1 police 0x1';
    const { scenario, findings } = importRules(json);
    expect(scenario).toBe(null);
    expect(findings[0]).toMatchObject({ line: 1, column: 98, text: "police 0x1" });
    expect(findings[0]?.reason).toContain("invalid JSON");
  });

  test.each([
    ["a control character", "a\u0001b"],
    ["an escape that JSON has not", "a\\x"],
  ])("JSON with %s in a string", (_, text) => {
    const json = `[{"protocol":"ip","pref":1,"kind":"${text}","options":{}}]`;
    const { scenario, findings } = importRules(json, { format: "tc" });
    expect(scenario).toBe(null);
    expect(findings[0]).toMatchObject({ line: 1, column: 35, text: `"${text}","options":{}}]` });
    expect(findings[0]?.reason).toContain("invalid JSON");
  });

  test("JSON with one broken filter: the others are read", () => {
    const filter = (handle: number, more = ""): string =>
      `{"protocol":"ip","pref":1,"kind":"flower","chain":0,"options":{"handle":${handle},"keys":{"ip_proto":"tcp","dst_port":${handle}}` +
      `,"actions":[{"order":1${more},"kind":"gact","control_action":{"type":"drop"}}]}}`;
    const json = `[${filter(1)},\n${filter(2, " police 0x1 rate 2Mbit")},\n${filter(3)}]\ntc filter del dev eth0 ingress handle 3`;
    const { scenario, findings } = importRules(json, { lenient: true });
    const rules = (scenario?.rules ?? []).map(({ name }) => name);
    expect(rules).toContain("eth0 prio 1 handle 0x1");
    expect(rules).not.toContain("eth0 prio 1 handle 0x2");
    expect(rules).not.toContain("eth0 prio 1 handle 0x3");
    const refused = findings.filter(({ severity }) => severity === "refused");
    expect(refused).toMatchObject([{ line: 2, text: 'police 0x1 rate 2Mbit,"kind":"gact","con' }]);
  });

  test("JSON whose array does not end", () => {
    const { findings } = importRules('[{"protocol":"ip","pref":1,"kind":"flower","chain":0}');
    expect(findings[0]).toMatchObject({ line: 1, column: 1, text: "[" });
    expect(findings[0]?.reason).toContain("the end of this array is missing");
  });
});
