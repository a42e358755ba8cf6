/** What iproute2 prints, cases of users, and keys, which no finding shows. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules, importScenario, printFinding, type ImportResult } from "../../../src/import/index.js";
import { readCapture } from "../../../src/packet/capture/read.js";
import { loadScenario, parseScenario, type Scenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const textOf = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const lenient = (text: string): ImportResult => importRules(text, { lenient: true });

test("states as iproute2 prints them, with and without statistics", () => {
  const [plain, statistics] = ["states.txt", "statistics.txt"].map((name) => lenient(textOf(name)));
  expect(plain?.scenario?.flowActions).toEqual(statistics?.scenario?.flowActions);
  expect(plain?.scenario?.flowActions?.map(({ name }) => name)).toEqual([
    "eth6 in spi 0x8",
    "eth6 out spi 0xc88b7652",
    "eth6 out spi 0x1001",
    "eth6 in spi 0x1002",
  ]);
  expect(plain?.findings.map(({ line, reason }) => `${line}: ${reason}`)).toEqual([
    "6: taken for the PF; --map eth6=... overrides this",
    "39: the mlx5 driver offloads UDP in front of ESP with packet offload only",
    "46: without offload the host encrypts: it is not on the NIC",
  ]);
  // Later versions print the mode of an offload.
  const packet = textOf("states.txt").replaceAll(/(dev eth6 dir \w+)/g, "$1 mode packet");
  expect(lenient(packet).scenario?.flowActions?.at(-1)?.esp).toMatchObject({
    replay: 128,
    esn: 1,
    encap: [{ udp: {} }],
  });
});

test("policies as iproute2 prints them", () => {
  const text = textOf("policies.txt");
  expect(lenient(text).findings.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 10 }, () => "it has no offload: only the host compares it"),
  );
  const [plain, statistics] = text
    .split(/^#.*\n/m)
    .slice(1)
    .map((part) =>
      part.replaceAll(/(?<=\n\s*dir (?:out|in)\b.*)\n/g, "\n\tcrypto offload parameters: dev eth6 mode packet\n"),
    );
  const flows = lenient(plain ?? "").scenario?.deviceFlows;
  expect(flows).toHaveLength(1);
  expect(flows?.[0]).toMatchObject({ match: { "outer.ip_version": 6, "outer.udp_sport": 500 }, actions: ["drop"] });
  expect(lenient(statistics ?? "").scenario?.deviceFlows).toEqual(flows);
});

describe("cases", () => {
  test("15: states and policies that were pasted", async () => {
    const [listed, script] = await Promise.all(
      ["cases/state.txt", "cases/xfrm.sh"].map((name) => importScenario(textOf(name))),
    );
    const key = { key: "00112233445566778899aabbccddeeff", salt: "a1b2c3d4", offload: "inline", spi: "0x8" };
    expect(listed?.scenario?.flowActions?.[0]?.esp).toMatchObject({ direction: "decrypt", ...key });
    expect(script?.scenario?.flowActions?.[0]?.esp).toMatchObject({ direction: "encrypt", ...key });
    for (const one of [listed, script]) await loadScenario(one?.scenario as Scenario);
  });

  const steered = async (scenario: Scenario): Promise<string[]> => {
    const { device } = await loadScenario(scenario);
    const ends: string[] = [];
    for await (const frames of readCapture(readFileSync(new URL("cases/t.pcap", import.meta.url))))
      for (const { bytes } of frames) {
        const { verdict, reason, to, rules } = device.receive(1, bytes);
        const text = to.map(({ frame }) => new TextDecoder("latin1").decode(frame.slice(42))).join();
        ends.push([verdict, reason ?? text, ...rules.map(({ name }) => name)].join(": "));
      }
    return ends;
  };

  test("16: a policy of ESP alone takes IKE, and ESP in UDP is for an action with UDP", async () => {
    expect(await steered(parseScenario(textOf("cases/s.json")))).toMatchInlineSnapshot(`
      [
        "deliver: hello: sa",
        "drop: drop_action: policy: only ESP",
        "drop: esp_encapsulation: sa",
        "drop: drop_action: policy: only ESP",
        "drop: drop_action: policy: only ESP",
      ]
    `);
  });

  test("16, as states and policies of ip xfrm", async () => {
    const ends = "src 192.0.2.17 dst 192.0.2.1";
    const aead = "aead rfc4106(gcm(aes)) 0x00112233445566778899aabbccddeeffa1b2c3d4 128";
    const text = `ip xfrm state add ${ends} proto esp spi 8 reqid 8 mode transport ${aead} offload packet dev eth6 dir in`;
    const { scenario } = await importScenario(text);
    expect(await steered(scenario as Scenario)).toMatchInlineSnapshot(`
      [
        "deliver: hello: eth6 in spi 0x8",
        "miss: no_rule",
        "miss: no_rule",
        "miss: no_rule",
        "miss: no_rule",
      ]
    `);
  });
});

test("no finding shows a key, whatever is damaged", () => {
  const random = new Random(seedFor("keys of ip xfrm"));
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, "0")).join("");
  const source = `${textOf("cases/xfrm.sh")}${textOf("states.txt")}`;
  const tc = "tc filter add dev eth0 ingress protocol ip flower dst_ip 1.2.3.4 action drop\n";
  for (let round = 0; round < rounds(3000); round++) {
    const keys: string[] = [];
    let text = source.replaceAll(/0x[\da-f]{40,}/g, (whole) => {
      keys.push(hex((whole.length - 2) / 2));
      return `0x${keys.at(-1)}`;
    });
    if (random.below(4) === 0) text = tc.repeat(random.below(40)) + text;
    for (let damage = random.below(5); damage > 0; damage--) {
      const at = random.below(text.length);
      const kind = random.below(4);
      if (kind === 0) text = text.slice(0, at) + text.slice(at + 1 + random.below(30));
      else if (kind === 1) text = `${text.slice(0, at)}${" \n#'\"(q0"[random.below(9)] ?? "x"}${text.slice(at)}`;
      else if (kind === 2) text = text.slice(0, at) + text.slice(at, at + random.below(80)) + text.slice(at);
      else {
        const lines = text.split("\n");
        lines.splice(random.below(lines.length), random.below(3));
        text = lines.join("\n");
      }
    }
    let said: string;
    try {
      said = importRules(text, { lenient: true }).findings.map(printFinding).join("\n");
    } catch (error) {
      said = String(error);
    }
    const shown = said.toLowerCase();
    for (const key of keys) {
      for (let at = 0; at + DIGITS <= key.length; at++)
        expect(shown.includes(key.slice(at, at + DIGITS)), `${key} in ${said}\n\nof\n${text}`).toBe(false);
    }
  }
});

/** Four bytes, more than chance has in common. */
const DIGITS = 8;
