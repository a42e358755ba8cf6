/** Uneven RSS: which rules are named, what is counted, and the cause. */
import { expect, test } from "vitest";
import { traceOf } from "../../../src/cli/commands/explainCalls.js";
import { Spreads, type Spread } from "../../../src/explain/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const ETH = { header: "ethernet" } as const;
const IP = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" } as const;
const udp = (source_port: number): Uint8Array =>
  buildFrame([ETH, IP, { header: "udp", source_port, destination_port: 53 }]);
const fragment = buildFrame([ETH, { ...IP, protocol: 17, fragment_offset: 100 }, { header: "payload", bytes: "00" }]);
const KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
const PORTS = {
  rx_hash_fn: "toeplitz",
  rx_hash_field_selector_outer: { l4_prot_type: "udp", selected_fields: ["l4_sport"] },
};

/** A device whose one rule spreads all frames over queues by a hash. */
function scenario(rqt: readonly string[], hash: object = {}): Scenario {
  return {
    flowsteer: 1,
    queues: [...new Set(rqt)].map((name) => ({ name })),
    rqts: [{ name: "table", queues: [...rqt] }],
    tirs: [{ name: "rss", rqt: "table", rx_hash_toeplitz_key: KEY, ...PORTS, ...hash }],
    tables: [{ name: "root", level: 0 }],
    rules: [{ name: "spread", table: "root", actions: [{ tir: "rss" }] }],
  } as Scenario;
}

async function spreadsOf(document: Scenario, frames: readonly Uint8Array[]): Promise<Spread[]> {
  const loaded = await loadScenario(document);
  const spreads = new Spreads();
  for (const [i, bytes] of frames.entries()) {
    const part = spreads.partOf(loaded.device.receive(1, bytes));
    if (part?.count() === true) part.keep({ number: i + 1, bytes, linkType: 1, wireLength: bytes.length, port: 1 });
  }
  return spreads.uneven((frame) => traceOf(loaded, { ...frame, queue: null, metadata: 0, time: null }));
}

const FOUR = ["q0", "q1", "q2", "q3"];
const flows = (count: number): Uint8Array[] => Array.from({ length: count }, (_, n) => udp(1000 + n));
const copies = (frame: Uint8Array, count: number): Uint8Array[] => Array.from({ length: count }, () => frame);

test("many flows over even queues are no uneven spread", async () => {
  expect(await spreadsOf(scenario(FOUR), flows(400))).toEqual([]);
});

test("a table that has one queue three times gives it three quarters", async () => {
  expect(await spreadsOf(scenario(["q0", "q0", "q0", "q1"]), flows(400))).toEqual([]);
});

test("one flow fills one queue", async () => {
  const [spread, ...others] = await spreadsOf(scenario(FOUR), copies(udp(7), 100));
  expect(others).toEqual([]);
  expect(spread).toMatchObject({
    rule: "spread",
    frames: 100,
    share: 0.25,
    examples: [expect.any(Number), {}, {}, {}].map(() => expect.any(Number)),
  });
  expect(spread?.queues).toHaveLength(1);
  expect(spread?.sentence).toBe(
    "all have the hash input outer.udp_sport 7; not selected: outer.ipv4_src, outer.ipv4_dst, outer.udp_dport",
  );
});

test("frames without a hash input share the first entry", async () => {
  const frames = [...copies(fragment, 150), ...flows(50)];
  const [spread] = await spreadsOf(scenario(FOUR), frames);
  expect(spread?.frames).toBe(200);
  const [fullest, ...rest] = spread?.queues ?? [];
  expect(fullest?.queue).toBe("qp:q0");
  expect((fullest?.frames ?? 0) + rest.reduce((sum, { frames: some }) => sum + some, 0)).toBe(200);
  expect(fullest?.frames).toBeGreaterThanOrEqual(150);
  expect(spread?.sentence).toMatch(
    /^(?:\d+ of 32 frames looked at: )?the hash has no input: all frames without one share entry 0 of 4; left out: outer\.udp_sport, because the frame is a later fragment; not selected: outer\.ipv4_src, outer\.ipv4_dst$/,
  );
});

test("addresses alone are not enough where ports are left out", async () => {
  const both = { l4_prot_type: "udp", selected_fields: ["src_ip", "l4_sport"] };
  const [spread] = await spreadsOf(scenario(FOUR, { rx_hash_field_selector_outer: both }), copies(fragment, 64));
  expect(spread?.sentence).toBe(
    "left out: outer.udp_sport, because the frame is a later fragment; all have the hash input outer.ipv4_src 10.0.0.1; " +
      "not selected: outer.ipv4_dst",
  );
});

test("ports that are not hashed are named", async () => {
  const addresses = { l4_prot_type: "udp", selected_fields: ["src_ip", "dst_ip"] };
  const [spread] = await spreadsOf(scenario(FOUR, { rx_hash_field_selector_outer: addresses }), flows(100));
  expect(spread?.sentence).toBe(
    "all have the hash input outer.ipv4_src 10.0.0.1, outer.ipv4_dst 10.0.0.2; not selected: outer.udp_sport, outer.udp_dport",
  );
});

test("an input that most of the frames have is given", async () => {
  const [spread] = await spreadsOf(scenario(FOUR), [...copies(udp(7), 300), ...flows(100)]);
  expect(spread?.sentence).toMatch(
    /^\d+ of 32 frames looked at have the hash input outer\.udp_sport 7; not selected: /,
  );
});

test("few frames, one queue, or no hash are not reported as uneven", async () => {
  expect(await spreadsOf(scenario(FOUR), copies(udp(7), 63))).toEqual([]);
  expect(await spreadsOf(scenario(["q0"]), copies(udp(7), 100))).toEqual([]);
  const plain = { ...scenario(FOUR), rules: [{ name: "one", table: "root", actions: [{ queue: "q0" }] }] } as Scenario;
  expect(await spreadsOf(plain, copies(udp(7), 100))).toEqual([]);
});

test("samples are of all frames, not of the first ones", async () => {
  const frames = [...copies(fragment, 32), ...copies(udp(7), 3000)];
  const [spread] = await spreadsOf(scenario(["q0", "q0", "q1", "q1"]), frames);
  expect(spread?.sentence).not.toContain("no input");
});
