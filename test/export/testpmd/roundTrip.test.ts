/** Random scenarios, written as testpmd commands and read again: frames end in the same way. */
import { expect, test } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import { importRules } from "../../../src/import/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Switch } from "../../import/tc/support/steer.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds, setting } from "../../support/tier.js";
import { behaviourOf } from "../support/behaviour.js";
import { nearFrame, randomRules } from "../support/randomRules.js";
import { randomFrame, randomSwitch } from "../tc/support.js";

const FRAMES = setting("FLOWSTEER_ROUNDTRIPS") === undefined ? 40 : 100;
const MAP = {
  port0: "uplink",
  port1: "vf1",
  port2: "vf2",
  port3: "vf3",
  "queue 0": "a",
  "queue 1": "b",
  "queue 2": "c",
};

/** The scenario without what testpmd cannot say, its text, and what the text becomes. */
function roundTrip(scenario: Scenario): { kept: Scenario; back: Scenario; text: string } {
  const { findings: left } = exportRules(scenario, { format: "testpmd", lenient: true });
  const names = new Set(left.map(({ name }) => name));
  const kept = { ...scenario, rules: (scenario.rules ?? []).filter(({ name }) => !names.has(name)) };
  const { text, findings } = exportRules(kept, { format: "testpmd" });
  if (text === null) throw new Error(JSON.stringify(findings));
  // The first device has no rules of a driver.
  const imported = importRules(`flow isolate 0 on\n${text}`, { format: "testpmd", map: MAP });
  if (imported.scenario === null) throw new Error(`${JSON.stringify(imported.findings)}\n${text}`);
  return { kept, back: imported.scenario, text };
}

test("rules of a function survive the way to testpmd and back", async () => {
  const random = new Random(seedFor("testpmd round trip"));
  let [kept, delivered] = [0, 0];
  for (let round = 0; round < rounds(200, "FLOWSTEER_ROUNDTRIPS"); round++) {
    const { flows: _flows, ...drawn } = randomRules(random);
    const rules = drawn.rules?.map(({ actions = [], ...rule }) => ({
      ...rule,
      actions: actions.filter((one) => typeof one !== "object" || one.count === undefined),
    }));
    const way = roundTrip({ ...drawn, rules: rules ?? [] });
    kept += way.kept.rules?.length ?? 0;
    const [first, second] = [await loadScenario(way.kept), await loadScenario(way.back)];
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      const expected = behaviourOf(first.device, frame);
      if (expected.startsWith('["deliver"')) delivered++;
      expect(behaviourOf(second.device, frame), `${JSON.stringify(way.kept)}\n${way.text}`).toBe(expected);
    }
  }
  checkReached(() => expect(kept).toBeGreaterThan(0));
  checkReached(() => expect(delivered).toBeGreaterThan(0));
});

test("rules of the eSwitch survive it too", async () => {
  const random = new Random(seedFor("testpmd eSwitch round trip"));
  let [kept, arrived] = [0, 0];
  for (let round = 0; round < rounds(100, "FLOWSTEER_ROUNDTRIPS"); round++) {
    const way = roundTrip(randomSwitch(random));
    kept += way.kept.rules?.length ?? 0;
    const [first, second] = [await Switch.of(way.kept), await Switch.of({ ...way.back, device: { vports: 3 } })];
    for (let n = 0; n < FRAMES; n++) {
      const frame = randomFrame(random);
      const from = random.below(4);
      const expected = first.steer(from, frame);
      arrived += expected.length;
      expect(second.steer(from, frame), `${JSON.stringify(way.kept)}\n${way.text}`).toEqual(expected);
    }
  }
  checkReached(() => expect(kept).toBeGreaterThan(0));
  checkReached(() => expect(arrived).toBeGreaterThan(0));
});

test("every field and action of items comes back as it was", () => {
  const match = (fields: Record<string, string | number>, domain = "nic_rx"): unknown => {
    const { text, findings } = exportRules(
      {
        flowsteer: 1,
        device: { vports: 2, parser: { geneveOption0: { class: 5, type: 6 } } },
        tables: [{ name: "t", domain: domain as never, level: 0 }],
        rules: [{ name: "r", table: "t", match: fields, actions: ["drop"] }],
      },
      { format: "testpmd" },
    );
    if (text === null) return findings[0]?.reason;
    return importRules(text, { map: MAP, driver: "none" }).scenario?.rules?.map(({ match: back }) => back);
  };
  for (const fields of [
    { "outer.dmac": "02:00:00:00:00:01", "outer.ethertype": 0x88cc },
    { "outer.first_vid": 5, "outer.first_prio": 3, "misc.outer_second_vid": 7 },
    { "outer.ip_version": 4, "outer.ipv4_src": "10.0.0.0/8", "outer.ip_dscp": 46, "outer.ip_ttl_hoplimit": "3-9" },
    { "outer.ip_version": 4, "outer.frag": 1 },
    { "outer.ip_version": 6, "misc.outer_ipv6_flow_label": 7, "outer.ipv6_dst": "2001:db8::/32" },
    { "outer.ip_version": 4, "outer.tcp_flags": "2/0x12" },
    { "outer.ip_version": 6, "ext.outer_sctp_dport": 9 },
    { "outer.ip_version": 4, "misc3.icmp_type": 8, "misc3.icmp_header_data": 0x10002 },
    { "misc.gre_protocol": 0x800, "misc.gre_key": 5, "inner.ip_version": 4, "inner.ipv4_src": "1.2.3.4" },
    {
      "outer.ip_version": 4,
      "misc3.gtpu_teid": 7,
      "outer.udp_sport": "any",
      "misc3.gtpu_dw_2": "133/0xff",
      "misc3.gtpu_first_ext_dw_0": "2304/0x3f00",
    },
    {
      "outer.ip_version": 4,
      "misc.geneve_vni": 7,
      "outer.udp_sport": "any",
      "misc.geneve_tlv_option_0_exist": 1,
      "misc3.geneve_tlv_option_0_data": 9,
    },
    { "misc2.metadata_reg_c_3": "5/0xff", "misc2.metadata_reg_c_1": 4 },
    { "outer.l3_ok": 1, "inner.l4_ok": 0 },
  ]) {
    expect(match(fields), JSON.stringify(fields)).toEqual([fields]);
  }
  // mlx5 takes an item of what follows IP behind one of IP only.
  for (const [fields, versions] of [
    [{ "outer.tcp_flags": "2/0x12" }, [4, 6]],
    [{ "ext.outer_sctp_dport": 9 }, [4, 6]],
    [{ "misc3.icmp_type": 8 }, [4]],
    [{ "misc3.icmpv6_type": 128 }, [6]],
  ] as const) {
    expect(match(fields), JSON.stringify(fields)).toEqual(
      versions.map((version) => ({ "outer.ip_version": version, ...fields })),
    );
  }
  expect(match({ "misc.source_port": "uplink" }, "fdb")).toEqual([{ "misc.source_port": 0xffff }]);
  expect(match({ "outer.l3_ok": 1, "misc2.metadata_reg_c_0": 1 })).toBe(
    "testpmd has no item for misc2.metadata_reg_c_0 here",
  );
  expect(match({ "inner.tcp_dport": 80 })).toBe("testpmd asks for inner headers after a tunnel; the rule names none");
});
