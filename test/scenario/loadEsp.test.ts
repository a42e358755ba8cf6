/** ESP actions of scenarios: what becomes of frames, and where in the document a refusal is. */
import { describe, expect, it } from "vitest";
import { loadScenario, outcomeRecord } from "../../src/scenario/index.js";
import { refusal as refusalOf } from "./support/scenarios.js";

const UDP = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 53 }];
const SECRET = { key: "00".repeat(16), salt: "00".repeat(4) };
const ADDRESSES = { ipv4: { src_ip: "192.0.2.1", dst_ip: "192.0.2.2" } };
const SEAL = { ...SECRET, direction: "encrypt", encap: [ADDRESSES] };
const OPEN = { ...SECRET, direction: "decrypt", encap: [ADDRESSES] };

/** Port 1 seals what it sends to port 2, which opens it. */
const document = (seal: object, open: object): Record<string, unknown> => ({
  flowsteer: 1,
  device: { ports: 2 },
  connect: [{ port: 1, to: 2 }],
  queues: [{ name: "a" }, { name: "b", port: 2 }],
  flowActions: [
    { name: "seal", esp: { ...SEAL, ...seal } },
    { name: "open", esp: { ...OPEN, ...open } },
  ],
  flows: [
    { queue: "a", flags: ["egress"], specs: [{ udp: {} }, { action: "seal" }] },
    { queue: "b", port: 2, specs: [{ esp: {} }, { ipv4: {} }, { action: "open" }] },
  ],
  frames: [1, 2].map(() => ({ send: "a", headers: UDP })),
});

const refusal = (esp: object): Promise<string> => refusalOf(document({}, esp));

const SIDES: readonly (readonly [object, string])[] = [
  [{}, "deliver"],
  [{ spi: "0x10", seq: 9, icv: 8, esn: 4, iv: "0000000000000009" }, "deliver"],
  [{ key: "11".repeat(32) }, "deliver"],
  [{ spi: 1, mode: "transport", encap: [{ udp: {} }] }, "deliver"],
];

describe("both sides of a tunnel", () => {
  it.each(SIDES)("%j", async (both, expected) => {
    const loaded = await loadScenario(document(both, both));
    const input = loaded.frames.map(({ bytes }) => bytes);
    for (const [i, outcome] of loaded.run().entries()) {
      const [left] = outcome.to;
      expect(left?.frame).not.toEqual(input[i]);
      const far = left?.kind === "port" ? left.outcome : null;
      expect([far?.verdict, far?.to[0]?.name]).toEqual([expected, "qp:b"]);
      expect(far?.to[0]?.frame).toEqual(input[i]);
    }
  });

  it.each([
    [{ spi: 1 }, "esp_spi"],
    [{ salt: "00000001" }, "esp_authentication"],
    [{ esn: 0 }, "esp_authentication"],
    [{ mode: "transport", encap: [] }, "deliver"],
  ])("%j on one of them", async (open, expected) => {
    const [first] = (await loadScenario(document({}, open))).run();
    const far = first?.to[0]?.kind === "port" ? first.to[0].outcome : null;
    expect(far?.reason ?? far?.verdict).toBe(expected);
  });

  it("one action for all its flows", async () => {
    const own = document({ hardLimit: 1 }, {});
    const [first, second] = (await loadScenario(own)).run();
    expect([first?.verdict, second?.reason]).toEqual(["transmit", "esp_hard_limit"]);
  });
});

describe("what inline actions find wrong", () => {
  it.each([
    ["nothing", {}, undefined, undefined],
    ["the ICV", { salt: "00000001" }, ["icv"], ["icv"]],
  ])(
    "%s stands in the record of the outcome, where there is something",
    async (_, open, toEspFaults, copyEspFaults) => {
      const inline = { ...OPEN, ...open, encap: undefined, offload: "inline", esn: 0 };
      const { flowActions, flows, ...rest } = JSON.parse(JSON.stringify(document({ esn: 0 }, inline)));
      const specs = flows[1].specs;
      const copied = { queue: "a", port: 2, flags: ["dont_trap"], specs };
      const loaded = await loadScenario({
        ...rest,
        flowActions,
        flows: [flows[0], copied, { ...flows[1], specs: specs.slice(0, 2) }],
      });
      const [first] = loaded.run();
      const { beyond } = outcomeRecord(1, loaded.frames[0]!, first!);
      const far = beyond["port:1"];
      expect(far?.to).toEqual(["qp:b"]);
      expect(far?.copies).toEqual(["qp:a"]);
      expect([far?.toEspFaults, far?.copyEspFaults]).toEqual([toEspFaults, copyEspFaults]);
    },
  );
});

describe("what is refused, and where", () => {
  it.each([
    [{ key: "0g" }, 'flowActions[1].esp.key = "0g": '],
    [{ key: "00".repeat(15) }, "flowActions[1].esp.key = 15: "],
    [{ key: "00".repeat(33) }, "flowActions[1].esp.key = 33: "],
    [{ salt: "00" }, 'flowActions[1].esp.salt = "00": '],
    [{ iv: "00" }, 'flowActions[1].esp.iv = "00": '],
    [{ icv: 9 }, "flowActions[1].esp.icv = 9: "],
    [{ spi: "1/2" }, "flowActions[1].esp.spi"],
    [{ seq: "0x100000000" }, "flowActions[1].esp.seq"],
    [{ replay: 0 }, "flowActions[1].esp.replay = 0: "],
    [{ tfcPad: 65_536 }, "flowActions[1].esp.tfcPad = 65536: "],
    [{ newWindow: true }, "flowActions[1].esp = 9: "],
    [{ metadata: true }, "flowActions[1].esp.metadata = true: "],
    [{ offload: "inline" }, "flowActions[1].esp.encap: "],
    [{ encap: [] }, "flowActions[1].esp.encap: "],
    [{ encap: [{ udp: {} }, ADDRESSES] }, 'flowActions[1].esp.encap[1].ipv4 = "0x30": '],
    [{ encap: [{ ipv4_ext: { proto: 6 } }] }, "flowActions[1].esp.encap[0].ipv4_ext.proto = 6: "],
    [{ encap: [{ ipv4: { src_ip: "10.0.0.0/8" } }] }, "flowActions[1].esp.encap[0].ipv4.src_ip"],
    [{ direction: "encrypt" }, 'flows[1].specs[2].action = "open": '],
  ])("%j", async (esp, expected) => {
    expect(await refusal(esp)).toContain(`loadScenario: ${expected}`);
  });
});
