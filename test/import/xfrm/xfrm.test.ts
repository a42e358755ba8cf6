/** States and policies of ip xfrm become ESP actions and flows. */
import { describe, expect, test } from "vitest";
import { lint, openExplainer } from "../../../src/explain/index.js";
import { importRules, importScenario, type ImportResult } from "../../../src/import/index.js";
import { type QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { parsePacket } from "../../../src/packet/notation/parse.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const KEY = "00112233445566778899aabbccddeeff";
const SALT = "a1b2c3d4";
const AEAD = `aead 'rfc4106(gcm(aes))' 0x${KEY}${SALT} 128`;
const ENDS = "src 192.0.2.17 dst 192.0.2.1";
const state = (more: string, offload = "offload packet dev eth6 dir in", aead = AEAD): string =>
  `ip xfrm state add ${ENDS} proto esp spi 0x1234 reqid 8 mode transport ${aead} ${more} ${offload}\n`;
const policy = (more: string): string => `ip xfrm policy add src 10.1.0.0/16 dst 10.2.0.0/16 ${more}\n`;
const TEMPLATE = `tmpl ${ENDS} proto esp reqid 8 mode transport`;
const OUT = "offload packet dev eth6 dir out";

const lenient = (text: string): ImportResult => importRules(text, { lenient: true });
const reasons = (text: string, severity = "refused"): string[] =>
  lenient(text)
    .findings.filter((one) => one.severity === severity)
    .map(({ line, text: of, reason }) => `${line}: ${of}: ${reason}`);
const espOf = (text: string): object | undefined => lenient(text).scenario?.flowActions?.[0]?.esp;

test("crypto offload is an inline action, by a command or a listing", async () => {
  const listing = [
    ENDS,
    "\tproto esp spi 0x00001234 reqid 8 mode transport",
    "\treplay-window 32 ",
    `\taead rfc4106(gcm(aes)) 0x${KEY}${SALT} 128`,
    "\tanti-replay context: seq 0x0, oseq 0x0, bitmap 0x00000000",
    "\tcrypto offload parameters: dev eth6 dir in",
    "\tsel src 192.0.2.17/32 dst 192.0.2.1/32 ",
  ].join("\n");
  for (const text of [listing, `> ${listing.replaceAll("\n", "\n> ")}`, state("", "offload dev eth6 dir in")]) {
    const { scenario, findings } = await importScenario(text);
    expect(findings.map(({ reason }) => reason)).toEqual(["taken for the PF; --map eth6=... overrides this"]);
    expect(scenario?.flowActions).toEqual([
      {
        name: "eth6 in spi 0x1234",
        esp: { direction: "decrypt", mode: "transport", key: KEY, salt: SALT, offload: "inline", spi: "0x1234" },
      },
    ]);
    expect(scenario?.deviceFlows).toEqual([
      {
        name: "eth6 in spi 0x1234",
        match: {
          "outer.ip_version": 4,
          "outer.ipv4_src": "192.0.2.17",
          "outer.ipv4_dst": "192.0.2.1",
          "outer.ip_protocol": 50,
          "misc.outer_esp_spi": 0x1234,
          "outer.frag": 0,
        },
        actions: [{ action: "eth6 in spi 0x1234" }, { queue: "eth6 host" }],
      },
    ]);
  }
});

describe("packet offload", () => {
  test("a policy leads the frames that it selects to its state", async () => {
    const text = state("", OUT) + policy(`dir out priority 3 ${TEMPLATE} offload packet dev eth6`);
    const { scenario } = await importScenario(text);
    expect(scenario?.flowActions?.[0]?.esp).toEqual({
      direction: "encrypt",
      mode: "transport",
      key: KEY,
      salt: SALT,
      spi: "0x1234",
      seq: 1,
    });
    expect(scenario?.deviceFlows).toEqual([
      {
        name: "eth6 policy out src 10.1.0.0/16 dst 10.2.0.0/16",
        ft_type: "nic_tx",
        match: {
          "outer.ip_version": 4,
          "outer.ipv4_src": "10.1.0.0/16",
          "outer.ipv4_dst": "10.2.0.0/16",
          "outer.frag": 0,
        },
        actions: [{ action: "eth6 out spi 0x1234" }],
      },
    ]);
  });

  test("tunnel mode has the addresses of the state in front of ESP", () => {
    expect(espOf(state("").replace("transport", "tunnel"))).toMatchObject({
      encap: [{ ipv4: { src_ip: "192.0.2.17", dst_ip: "192.0.2.1" } }],
    });
    expect(
      espOf(state("").replace("transport", "tunnel").replace(ENDS, "src 2001:db8::1 dst 2001:db8::2")),
    ).toMatchObject({ encap: [{ ipv6: { src_ip: "2001:db8::1", dst_ip: "2001:db8::2" } }] });
  });

  test("extended numbers, windows, limits and UDP", () => {
    expect(espOf(state("replay-window 64 flag esn replay-seq 9 replay-seq-hi 2"))).toMatchObject({
      replay: 64,
      esn: 2,
      seq: 10,
    });
    expect(espOf(state("limit packet-hard 1000 limit packet-soft 900 encap espinudp 4500 4501 0.0.0.0"))).toMatchObject(
      {
        hardLimit: 1000,
        encap: [{ udp: { src_port: 4500, dst_port: 4501 } }],
      },
    );
    expect(espOf(state("replay-window 64"))).not.toHaveProperty("replay");
    expect(reasons(state("replay-window 64"), "assumed")[1]).toContain("without the flag esn the mlx5 driver gives");
    expect(espOf(state("replay-oseq 4294967295 flag esn", OUT))).toMatchObject({ seq: 0, esn: 1 });
  });

  test("policies are in the order of their priorities; block drops, allow passes", () => {
    const text =
      policy("dir out priority 9 offload packet dev eth6") +
      policy("proto udp dport 500 dir out action block priority 2 offload packet dev eth6") +
      policy("dir in action block priority 5 offload packet dev eth6") +
      state("");
    const flows = lenient(text).scenario?.deviceFlows;
    expect(flows?.map(({ priority, ft_type, actions }) => ({ priority, ft_type, actions }))).toEqual([
      { ft_type: "nic_tx", actions: ["drop"] },
      { priority: 1, actions: ["drop"] },
      { priority: 2, ft_type: "nic_tx", actions: [] },
      { priority: 3, actions: [{ action: "eth6 in spi 0x1234" }, { queue: "eth6 host" }] },
    ]);
    expect(flows?.[1]?.match).toMatchObject({ "outer.ip_protocol": 50, "outer.ipv4_src": "10.1.0.0/16" });
  });

  // ipsec_fs.c: only ESP is led to the policies (family2tt), and before it is decrypted (rx_create).
  test("received frames meet policies as ESP: allowed before blocked ones reach their states", async () => {
    const from = (ends: string, more: string): string =>
      `ip xfrm policy add ${ends} dir in ${more} offload packet dev eth6\n`;
    const text =
      state("") +
      state("").replace("0x1234", "0x99").replace("192.0.2.17", "192.0.2.30") +
      from("src 192.0.2.17/32 dst 192.0.2.1/32", "action allow priority 1") +
      from("src 192.0.2.0/24 dst 192.0.2.1/32", "action block priority 2");
    const { scenario } = await importScenario(text);
    const { device } = await loadScenario(scenario ?? { flowsteer: 1 });
    const outcomeOf = (packet: string): string => {
      const { verdict, reason } = device.receive(1, buildFrame(parsePacket(packet).layers));
      return reason === null ? verdict : `${verdict} ${reason}`;
    };
    const esp = (source: string, spi: number): string =>
      outcomeOf(`ipv4 ${source} > 192.0.2.1 / esp spi ${spi} / payload 40 bytes`);
    expect([esp("192.0.2.17", 0x1234), esp("192.0.2.30", 0x99), esp("192.0.2.17", 7)]).toEqual([
      "drop esp_authentication",
      "drop drop_action",
      "deliver",
    ]);
    expect(outcomeOf("ipv4 192.0.2.30 > 192.0.2.1 / tcp 22 > 4000")).toBe("miss no_rule");
    expect(
      reasons(from("src 192.0.2.17 dst 192.0.2.1 proto tcp sport 22", "action block"), "assumed").at(-1),
    ).toContain("no such frame has this protocol");
  });

  test("the host sends by its queue, and a frame that no policy selected is told the nearest", async () => {
    const text = state("", OUT) + policy(`dir out ${TEMPLATE} offload packet dev eth6`);
    const { scenario } = await importScenario(text);
    expect(scenario?.queues).toEqual([{ name: "eth6 host" }]);
    const { device, queues } = await loadScenario(scenario ?? { flowsteer: 1 });
    expect(await lint(device)).toEqual([]);
    const explainer = await openExplainer(device);
    const frame = buildFrame(parsePacket("ipv4 10.9.0.1 > 10.2.0.1 / udp 1 > 2").layers);
    const { sentence } = explainer.whySend(queues.get("eth6 host")?.queue as QueuePair, frame, "dropped");
    expect(sentence).toMatch(/^port:1 got the frame by default; nearest: flow .* outer.ipv4_src is 10.9.0.1, not/);
  });

  test("what leads nowhere is told", () => {
    expect(reasons(state("", OUT), "assumed").at(-1)).toContain("no policy of the text with offload packet");
    expect(reasons(policy(`dir out ${TEMPLATE} offload packet dev eth6`))).toEqual([
      "1: tmpl: no state with offload packet and dir out on eth6 has its reqid 8, mode and addresses",
    ]);
    expect(reasons(policy(`dir in ${TEMPLATE} offload packet dev eth6`), "assumed").at(-1)).toContain(
      "frames reach the states without it",
    );
  });
});

test.each([
  [state("", ""), "without offload the host encrypts"],
  [policy(`dir out ${TEMPLATE}`), "it has no offload: only the host compares it"],
  ["src 0.0.0.0/0 dst 0.0.0.0/0 \n\tsocket in priority 0 ptype main \n", "it is of one socket"],
])("what is not on the NIC is told: %s", (text, reason) => {
  const { scenario, findings } = importRules(text);
  expect(findings.map((one) => one.reason)).toEqual([expect.stringContaining(reason)]);
  expect(scenario).toEqual({ flowsteer: 1 });
});

test.each([
  [state("").replace("proto esp", "proto ah"), "the NIC has ESP"],
  [state("").replace("transport", "beet"), "modes: transport, tunnel"],
  [state("").replace("transport", "tunel"), 'did you mean "tunnel"?'],
  [state("", "offload pakcet dev eth6 dir in"), 'did you mean "packet"?'],
  [state("", undefined, AEAD.replace("128", "96")), "an ICV of 128 bits"],
  [state("", undefined, AEAD.replace("4106(gcm(aes))", "4309(ccm(aes))")), "aead rfc4106(gcm(aes))"],
  [state("", undefined, "enc 'cbc(aes)' 0x00 auth 'hmac(sha1)' 0x01"), "aead rfc4106(gcm(aes))"],
  [state("", undefined, ""), "its algorithm is missing"],
  [state("", undefined, AEAD.replace(SALT, "")), "keys of 20 and 36 bytes"],
  [state("", undefined, AEAD.replace(SALT, "a1b")), "pairs of hexadecimal digits"],
  [state("", undefined, AEAD.replace(/0x\w+/, "<<Keys")), "without nokeys"],
  [state("tfcpad 8"), "does not offload it"],
  [state("").replace("reqid 8", ""), "states with a reqid"],
  [state("replay-window 33 flag esn"), "windows of 32, 64, 128, 256 numbers"],
  [state("encap espinudp 1 2 0.0.0.0").replace("transport", "tunnel"), "in transport mode only"],
  [state("encap espinudp 1 2 0.0.0.0", "offload dev eth6 dir in"), "with packet offload only"],
  [state("encap espintcp 1 2 0.0.0.0"), "no other encapsulation"],
  [state("", "offload packet dev eth6"), "an offload has dev NAME dir in|out"],
  [state("", "offload packet dev eth6 dir up"), "a direction is in or out"],
  [state("rqid 8"), "not a word of a state"],
  [state("").replace("src 192.0.2.17", "src 192.0.2.16/28"), "ip ignores the length of the prefix"],
  [policy(`dir fwd ${TEMPLATE} offload packet dev eth6`), "policies of forwarded frames"],
  [policy(`dir out ptype sub ${TEMPLATE} offload packet dev eth6`), "policies of type main"],
  [policy(`dir out ${TEMPLATE} ${TEMPLATE} offload packet dev eth6`), "policies of one template"],
  [policy("proto sctp dir out offload packet dev eth6"), "the ports of TCP and UDP"],
  [policy("offload packet dev eth6"), "its direction is missing"],
])("refused: %s", (text, reason) => {
  expect(reasons(text)).toEqual([expect.stringContaining(reason)]);
});

test.each([
  ["of another algorithm", "enc s3cretcbc auth s3cretpass"],
  ["with a blank", "aead 'rfc4106(gcm(aes))' s3cret pass 128"],
  ["in place of the algorithm", "aead s3cretpass 128 128"],
  ["after a word that is missing", "s3cretpass s3cretpass"],
])("a key is in no refusal: %s", (_, words) => {
  const { findings } = lenient(state("", undefined, words));
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.map(({ text, reason }) => `${text} ${reason}`).join()).not.toContain("s3cret");
});

test("a state whose frames a policy allows before another one blocks them is one flow", async () => {
  const allow = `ip xfrm policy add ${ENDS} dir in priority 100 ${TEMPLATE} offload packet dev eth6\n`;
  const block =
    "ip xfrm policy add src 192.0.2.0/24 dst 192.0.2.1 dir in action block priority 150 offload packet dev eth6\n";
  const { scenario } = await importScenario(state("") + allow + block);
  const flows = scenario?.deviceFlows?.map(({ name, priority = 0 }) => [name, priority]);
  expect(flows?.[0]).toEqual(["eth6 in spi 0x1234", 0]);
  expect(flows).toHaveLength(3);
  expect((await lint((await loadScenario(scenario!)).device)).map(({ id }) => id)).not.toContain("duplicate-rule");
});

test("what is deleted, flushed or failed is not there", () => {
  const names = (text: string): unknown => lenient(text).scenario?.flowActions?.map(({ name }) => name) ?? [];
  const other = state("").replace("0x1234", "0x99");
  expect(names(state("") + other)).toEqual(["eth6 in spi 0x1234", "eth6 in spi 0x99"]);
  expect(names(`${state("")}${other}ip xfrm state delete dst 192.0.2.1 proto esp spi 0x1234\n`)).toEqual([
    "eth6 in spi 0x99",
  ]);
  expect(names(`${state("")}${other}ip x s flush\n`)).toEqual([]);
  expect(names(`${state("")}${other}RTNETLINK answers: File exists\n`)).toEqual(["eth6 in spi 0x1234"]);
  expect(names(`${state("")}${state("").replace(" add ", " update ")}`)).toEqual(["eth6 in spi 0x1234"]);
  const drop = policy("dir out action block offload packet dev eth6");
  expect(lenient(drop).scenario?.deviceFlows).toHaveLength(1);
  expect(lenient(`${drop}ip xfrm policy deleteall dir in\n`).scenario?.deviceFlows).toHaveLength(1);
  expect(lenient(`${drop}ip xfrm policy deleteall\n`).scenario?.deviceFlows).toBeUndefined();
  const deleted = "ip xfrm policy delete src 10.1.0.0/16 dst 10.2.0.0/16 dir out\n";
  expect(lenient(drop + deleted).scenario?.deviceFlows).toBeUndefined();
});

test("a device is the PF or what the map says; lines of other tools have their own readers", async () => {
  const text = state("") + state("").replace("eth6", "eth7").replace("0x1234", "0x99");
  expect(reasons(text).map((one) => one.replace(/: flows.*/, ""))).toEqual(["1: eth6", "2: eth7"]);
  const { scenario } = await importScenario(text, { map: { eth7: "vf1" } });
  expect(scenario?.deviceFlows?.map(({ function: vport }) => vport)).toEqual([undefined, 1]);
  const mapped = await importScenario(state(""), { map: { eth6: "vf1" } });
  expect(mapped.scenario?.deviceFlows?.[0]).toMatchObject({ function: 1 });
  const tc = "tc filter add dev eth0 ingress protocol ip prio 1 flower dst_ip 1.2.3.4 action drop\n";
  const both = await importScenario(`${tc}${tc.replace("1.2.3.4", "1.2.3.5")}root@host:~# ${state("")}`);
  expect(both.scenario?.flowActions).toHaveLength(1);
  expect(both.scenario?.rules?.length).toBeGreaterThan(1);
});

test("a profile that does not take the state refuses it at its line", async () => {
  const into: Scenario = { flowsteer: 1, device: { profile: "connectx7" } };
  const { findings } = await importScenario(`\n${state("")}`, { into });
  const refused = findings.filter(({ severity }) => severity === "refused");
  expect(refused.map(({ line }) => line)).toEqual([2, 2]);
  expect(refused[0]?.text).toContain("mode transport aead 'rfc4106(gcm(aes))' ...");
  expect(refused[0]?.reason).toContain("esp.spi");
});
