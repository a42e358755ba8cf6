/** Cases for ESP actions (ibv_flow_action_esp(3)): every member of their structs, and the flows that name them. */
import * as v from "../../../../src/verbs/index.js";
import { ipv4Frame } from "../../../mlx5dv/support/directRules.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  ESP_SPEC,
  FULL,
  handle,
  inline,
  IPV4_ENCAP,
  iv,
  keymat,
  NEW_WINDOW,
  NONE,
  numbersOf,
  sealed,
  TRANSPORT,
  tunnel,
  UDP_ENCAP,
} from "../../support/esp.js";
import { count, DONT_TRAP, EGRESS, IPV4, SNIFFER } from "../../support/flows.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const FRAME = ipv4Frame();
/** Input of an inline ENCRYPT action: an ESP header, room for the IV, a payload. */
const UNSEALED = ipv4Frame({ protocol: 50, length: 14 + 20 + 16 + 30 });
UNSEALED.set([0, 0, 0, 7, 0, 0, 0, 1], 34);
const ESP_FLOW = [IPV4, ESP_SPEC];

/** Frames encrypted by an action with these parameters. */
function seals(probe: Probe, esp: v.FlowActionEsp, frames: readonly Uint8Array[]): Uint8Array[] {
  const action = create(probe.bench, esp);
  const flow = probe.flow("out", [...(isFull(esp) ? [] : ESP_FLOW), handle(action)], EGRESS);
  const made = frames.map((frame) => sealed(probe.bench, frame));
  v.ibv_destroy_flow(flow);
  v.ibv_destroy_flow_action(action);
  return made;
}

const attrOf = ({ esp_attr }: v.FlowActionEsp): v.FlowActionEspAttr => (esp_attr ?? {}) as v.FlowActionEspAttr;
const isFull = (esp: v.FlowActionEsp): boolean => ((attrOf(esp).flags ?? 0) & FULL) !== 0;

/** The DECRYPT counterpart of an ENCRYPT action. */
function openingOf(esp: v.FlowActionEsp, over: v.FlowActionEsp = {}): v.FlowActionEsp {
  const { flags = 0, ...attr } = attrOf(esp);
  return { ...esp, esp_attr: { ...attr, flags: flags & ~ENCRYPT }, ...over };
}

/**
 * Encrypted and decrypted, a frame arrives unchanged in the queue of a flow; a profile without
 * support refuses the action.
 */
const roundTrip =
  (esp: v.FlowActionEsp, check: (frame: Uint8Array) => boolean = () => true, code = "EOPNOTSUPP"): Run =>
  (probe) => {
    if (probe.connectx && isFull(esp)) {
      probe.refusesCall(code, () => create(probe.bench, esp));
      probe.refusesCall(code, () => create(probe.bench, openingOf(esp)));
      return;
    }
    const clear = isFull(esp) ? FRAME : UNSEALED;
    const [frame] = seals(probe, esp, [clear]) as [Uint8Array];
    same(check(frame), true, "what is sealed");
    probe.flow("a", [...ESP_FLOW.slice(isFull(esp) ? 2 : 0), handle(create(probe.bench, openingOf(esp)))]);
    probe.gets(frame, "a deliver");
    const opened = probe.bench.device.receive(1, frame).to[0]?.frame;
    same(
      clear.slice(50).every((byte, i) => opened?.[50 + i] === byte),
      true,
      "what is opened",
    );
  };

/** Results of the sequence numbers a, b, ... in this order. */
const arrivals =
  (opening: v.FlowActionEsp, ...expected: readonly (readonly [number, string])[]): Run =>
  (probe) => {
    if (probe.connectx) {
      probe.refusesCall("EOPNOTSUPP", () => create(probe.bench, opening));
      return;
    }
    const frames = seals(probe, tunnel(ENCRYPT), Array<Uint8Array>(9).fill(FRAME));
    probe.flow("a", [handle(create(probe.bench, opening))]);
    for (const [number, text] of expected) probe.gets(frames[number - 1]!, text);
  };

const refused =
  (esp: v.FlowActionEsp, manual: string, connectx = manual): Run =>
  (probe) =>
    probe.refusesCall(probe.connectx ? connectx : manual, () => create(probe.bench, esp));

const GOOD = "a deliver";
const SEEN = "drop esp_replay";
const window = (size: number): v.FlowActionEsp => ({ replay_proto: BMP, replay_ptr: { size } });

const ATTR: Readonly<Record<string, Run>> = {
  "flags FULL_OFFLOAD, TUNNEL": roundTrip(tunnel(ENCRYPT), (frame) => frame.length > FRAME.length + 20),
  "flags FULL_OFFLOAD, TRANSPORT": roundTrip(tunnel(ENCRYPT | TRANSPORT, { esp_encap: null })),
  "flags INLINE_CRYPTO": roundTrip(inline(ENCRYPT)),
  "flags ESN_NEW_WINDOW": (probe) => {
    const esp = inline(ENCRYPT | NEW_WINDOW, { comp_mask: ESN, esn: 6 });
    if (probe.connectx) {
      probe.refusesCall("EOPNOTSUPP", () => create(probe.bench, esp));
      return;
    }
    const [frame] = seals(probe, esp, [UNSEALED]) as [Uint8Array];
    // Number 1 belongs to the next ESN.
    probe.flow("a", [...ESP_FLOW, handle(create(probe.bench, inline(0, { comp_mask: ESN, esn: 7 })))]);
    probe.gets(frame, GOOD);
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, undefined, "vendor error");
  },
  "flags that do not exist": refused(inline(16), "EOPNOTSUPP"),
  spi: roundTrip(tunnel(ENCRYPT, {}, { spi: 9 }), (frame) => numbersOf(frame).spi === 9),
  "spi of another association": (probe) => {
    const esp = tunnel(0, {}, { spi: 9 });
    if (probe.connectx) {
      probe.refusesCall("EOPNOTSUPP", () => create(probe.bench, esp));
      return;
    }
    const [frame] = seals(probe, tunnel(ENCRYPT), [FRAME]) as [Uint8Array];
    const action = create(probe.bench, esp);
    probe.flow("a", [handle(action)]);
    probe.gets(frame, "drop esp_spi");
    v.ibv_modify_flow_action_esp(action, { esp_attr: attrOf(tunnel(0)) });
    probe.gets(frame, GOOD);
  },
  seq: roundTrip(tunnel(ENCRYPT, {}, { seq: 77 }), (frame) => numbersOf(frame).seq === 77),
  tfc_pad: roundTrip(tunnel(ENCRYPT, {}, { tfc_pad: 100 }), (frame) => frame.length > FRAME.length + 120),
  "tfc_pad above 65535": refused(tunnel(0, {}, { tfc_pad: 65_536 }), "EINVAL", "EOPNOTSUPP"),
  hard_limit_pkts: arrivals(tunnel(0, {}, { hard_limit_pkts: 2 }), [1, GOOD], [2, GOOD], [3, "drop esp_hard_limit"]),
  "(none)": refused({ keymat_ptr: keymat() }, "EINVAL"),
};

const keyed = (over: Partial<v.FlowActionEspAesGcm>): v.FlowActionEsp => inline(ENCRYPT, { keymat_ptr: keymat(over) });

const KEYMAT: Readonly<Record<string, Run>> = {
  ...Object.fromEntries(
    [16, 24, 32].map((bytes) => [`key_len ${bytes}`, roundTrip(keyed({ aes_key: new Uint8Array(bytes).fill(7) }))]),
  ),
  "key_len of others": refused(keyed({ aes_key: new Uint8Array(20) }), "EINVAL"),
  ...Object.fromEntries(
    [8, 12].map((icv_len) => [
      `icv_len ${icv_len}`,
      (probe) => (probe.connectx ? refused(keyed({ icv_len }), "EOPNOTSUPP") : roundTrip(keyed({ icv_len })))(probe),
    ]),
  ),
  "icv_len 16": roundTrip(keyed({ icv_len: 16 })),
  "icv_len of others": refused(keyed({ icv_len: 10 }), "EINVAL"),
  iv: roundTrip(
    tunnel(ENCRYPT, { keymat_ptr: keymat({ iv: iv(0x0102030405060708n) }) }),
    (frame) => numbersOf(frame).iv === 0x0102030405060708n,
  ),
  "iv_algo of others": refused(keyed({ iv_algo: 1 }), "EOPNOTSUPP"),
  "salt, aes_key of another association": (probe) => {
    const [frame] = seals(probe, inline(ENCRYPT), [UNSEALED]) as [Uint8Array];
    for (const over of [{ salt: new Uint8Array(4) }, { aes_key: new Uint8Array(16) }]) {
      const flow = probe.flow("a", [...ESP_FLOW, handle(create(probe.bench, inline(0, { keymat_ptr: keymat(over) })))]);
      probe.gets(frame, GOOD);
      same(probe.bench.device.receive(1, frame).to[0]?.espFault, "icv", "vendor error");
      v.ibv_destroy_flow(flow);
    }
  },
  "keymat_proto of others": refused(inline(0, { keymat_proto: 1 }), "EINVAL"),
  "(none)": refused({ esp_attr: {} }, "EINVAL"),
};

const REPLAY: Readonly<Record<string, Run>> = {
  BMP: arrivals(tunnel(0, window(4)), [5, GOOD], [5, SEEN], [1, SEEN], [2, GOOD], [2, SEEN], [9, GOOD], [5, SEEN]),
  "BMP, size": refused(tunnel(0, window(65_537)), "EINVAL", "EOPNOTSUPP"),
  "(none)": arrivals(tunnel(0), [5, GOOD], [5, GOOD], [1, GOOD]),
  "NONE, for a new action": (probe) => {
    const esp = inline(0, { replay_proto: NONE });
    if (probe.connectx) {
      probe.refusesCall("EINVAL", () => create(probe.bench, esp));
      return;
    }
    const [frame] = seals(probe, inline(ENCRYPT), [UNSEALED]) as [Uint8Array];
    probe.flow("a", [...ESP_FLOW, handle(create(probe.bench, esp))]);
    probe.gets(frame, GOOD);
  },
  "of others": refused(tunnel(0, { replay_proto: 2, replay_ptr: { size: 1 } }), "EINVAL"),
  "with ENCRYPT": refused(tunnel(ENCRYPT, window(64)), "EINVAL", "EOPNOTSUPP"),
  "with INLINE_CRYPTO": refused(inline(0, window(64)), "EINVAL", "EOPNOTSUPP"),
};

const IPV6_ENCAP = { type: v.IBV_FLOW_SPEC_IPV6, val: { src_ip: "2001:db8::1", dst_ip: "2001:db8::2" } };
const EXT_ENCAP = { type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { src_ip: "192.0.2.1", dst_ip: "198.51.100.2", ttl: 3 } };
const ETH_ENCAP = { type: v.IBV_FLOW_SPEC_ETH, val: { dst_mac: "02:00:00:00:00:09", vlan_tag: 5 } };
const chain = (...esp_encap: v.FlowActionEspEncap[]): v.FlowActionEsp => tunnel(ENCRYPT, { esp_encap });

const ENCAP: Readonly<Record<string, Run>> = {
  IPV4: roundTrip(chain(IPV4_ENCAP), (frame) => frame[23] === 50),
  "IPV4, UDP": roundTrip(chain(IPV4_ENCAP, UDP_ENCAP), (frame) => frame[23] === 17),
  IPV4_EXT: roundTrip(chain(EXT_ENCAP), (frame) => frame[22] === 3),
  IPV6: roundTrip(chain(IPV6_ENCAP), (frame) => frame[12] === 0x86 && frame[20] === 50),
  "ETH, IPV4": (probe) => {
    if (probe.connectx) {
      probe.refusesCall("EOPNOTSUPP", () => create(probe.bench, chain(ETH_ENCAP, IPV4_ENCAP)));
      return;
    }
    const [frame] = seals(probe, chain(ETH_ENCAP, IPV4_ENCAP), [FRAME]) as [Uint8Array];
    same([...frame.subarray(5, 6), ...frame.subarray(12, 18)].join(), "9,129,0,0,5,8,0", "link header");
    probe.flow("a", [handle(create(probe.bench, tunnel(0)))]);
    probe.gets(frame, GOOD);
  },
  "UDP, in transport mode": roundTrip(
    tunnel(ENCRYPT | TRANSPORT, { esp_encap: UDP_ENCAP }),
    (frame) => frame[23] === 17,
  ),
  "of others": refused(chain({ type: v.IBV_FLOW_SPEC_GRE }), "EINVAL", "EOPNOTSUPP"),
  "none, in tunnel mode": refused(tunnel(0, { esp_encap: null }), "EINVAL", "EOPNOTSUPP"),
  "with INLINE_CRYPTO": refused(inline(0, { esp_encap: [IPV4_ENCAP] }), "EINVAL", "EOPNOTSUPP"),
};

const REST: Readonly<Record<string, Run>> = {
  esn: roundTrip(inline(ENCRYPT, { comp_mask: ESN, esn: 0xabcdef })),
  "esn of another scope": (probe) => {
    const [frame] = seals(probe, inline(ENCRYPT, { comp_mask: ESN, esn: 1 }), [UNSEALED]) as [Uint8Array];
    const action = create(probe.bench, inline(0, { comp_mask: ESN, esn: 2 }));
    probe.flow("a", [...ESP_FLOW, handle(action)]);
    probe.gets(frame, GOOD);
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, "icv", "vendor error");
    v.ibv_modify_flow_action_esp(action, { comp_mask: ESN, esn: 1 });
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, undefined, "vendor error");
  },
  "comp_mask of others": refused(inline(0, { comp_mask: 2 }), "EOPNOTSUPP"),
};

/** An action of this direction that every profile accepts. */
const made = (probe: Probe, flags = 0): ReturnType<typeof create> => create(probe.bench, inline(flags));

const MODIFY: Readonly<Record<string, Run>> = {
  "keymat, for all flows": (probe) => {
    const action = made(probe);
    const esp = { keymat_ptr: keymat({ aes_key: new Uint8Array(32) }) };
    if (probe.connectx) {
      probe.refusesCall("EOPNOTSUPP", () => v.ibv_modify_flow_action_esp(action, esp));
      return;
    }
    const [frame] = seals(probe, inline(ENCRYPT, esp), [UNSEALED]) as [Uint8Array];
    for (const name of ["a", "b"]) probe.flow(name, [...ESP_FLOW, handle(action)]);
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, "icv", "vendor error");
    v.ibv_modify_flow_action_esp(action, esp);
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, undefined, "vendor error");
    probe.gets(frame, "a b deliver");
  },
  "esn of an action without": (probe) => {
    const action = made(probe);
    const esp = { comp_mask: ESN, esn: 1 };
    if (probe.connectx) {
      probe.refusesCall("EINVAL", () => v.ibv_modify_flow_action_esp(action, esp));
      return;
    }
    v.ibv_modify_flow_action_esp(action, esp);
    const [frame] = seals(probe, inline(ENCRYPT, esp), [UNSEALED]) as [Uint8Array];
    probe.flow("a", [...ESP_FLOW, handle(action)]);
    probe.gets(frame, GOOD);
    same(probe.bench.device.receive(1, frame).to[0]?.espFault, undefined, "vendor error");
  },
  "flags that stay": (probe) => {
    const code = probe.connectx ? "EOPNOTSUPP" : "EINVAL";
    const flags = { esp_attr: { flags: ENCRYPT } };
    probe.refusesCall(code, () => v.ibv_modify_flow_action_esp(made(probe), flags));
  },
};

const FLOWS: Readonly<Record<string, Run>> = {
  "of the other direction": (probe) => {
    probe.refuses("EINVAL", [...ESP_FLOW, handle(made(probe, ENCRYPT))]);
    probe.refuses("EINVAL", [...ESP_FLOW, handle(made(probe))], EGRESS);
  },
  "a second one": (probe) => probe.refuses("EINVAL", [...ESP_FLOW, handle(made(probe)), handle(made(probe))]),
  "inline, without IP or ESP": (probe) => {
    for (const specs of [[], [IPV4], [ESP_SPEC]]) probe.refuses("EINVAL", [...specs, handle(made(probe))]);
  },
  "of a sniffer": (probe) => probe.refuses("EINVAL", [...ESP_FLOW, handle(made(probe))], SNIFFER),
  DONT_TRAP: (probe) => {
    const [frame] = seals(probe, inline(ENCRYPT), [UNSEALED]) as [Uint8Array];
    probe.flow("a", [...ESP_FLOW, handle(made(probe))], DONT_TRAP);
    probe.flow("b", [IPV4]);
    probe.gets(frame, "(a) b deliver");
  },
  "beside COUNT": (probe) => {
    const counters = probe.bench.counters();
    const [frame] = seals(probe, inline(ENCRYPT), [UNSEALED]) as [Uint8Array];
    probe.flow("a", [...ESP_FLOW, handle(made(probe)), count(counters)]);
    probe.gets(frame, GOOD);
    probe.counts(counters, 1, frame.length);
  },
  "destroyed while a flow names it": (probe) => {
    const action = made(probe);
    probe.flow("a", [...ESP_FLOW, handle(action)]);
    probe.refusesCall("EBUSY", () => v.ibv_destroy_flow_action(action));
  },
};

export const ESP_CASES: readonly Case[] = [
  ...casesOf("esp_attr", null, ATTR),
  ...casesOf("keymat_ptr", null, KEYMAT),
  ...casesOf("replay_ptr", null, REPLAY),
  ...casesOf("esp_encap", null, ENCAP),
  ...casesOf("ibv_flow_action_esp", null, REST),
  ...casesOf("ibv_modify_flow_action_esp", null, MODIFY),
  ...casesOf("flows with ESP", null, FLOWS),
];
