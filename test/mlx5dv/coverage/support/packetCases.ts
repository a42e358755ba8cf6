/** Cases for actions that change a frame: reformats, header changes, VLAN tags. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import type { Domain } from "../../../../src/model/table/domain.js";
import {
  changed,
  encapsulated,
  FRAME,
  GRE,
  GRE_DATA,
  GRE_L3,
  GRE_L3_DATA,
  INNER,
  joined,
  summed,
  tagged,
  TO_FRAME,
  VXLAN,
  VXLAN_DATA,
} from "./frames.js";
import { casesOf, type Case, type Probe, type Run } from "./record.js";

const DECAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
const ENCAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
const DECAP_L3 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2;
const ENCAP_L3 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL;
const ROOT_LEVEL = dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL;
const L2_HEADER = FRAME.subarray(0, 14);
const WIRE = { "misc.source_port": 0xffff };
const VF1 = { "misc.source_port": 1 };

const reformat = (domain: Domain, type: number, data: Uint8Array | null = null, flags = 0): Action =>
  dv.mlx5dv_dr_action_create_packet_reformat(domain, flags, type, undefined, data);
const toPort2 = (p: Probe): Action => dv.mlx5dv_dr_action_create_dest_ib_port(p.fdb, 2);

/**
 * Decapsulation on receive: in NIC_RX, and in the FDB for frames from the wire; ConnectX has none
 * on send.
 */
const decapsulates =
  (type: number, data: Uint8Array | null, frame: Uint8Array, expected: Uint8Array): Run =>
  (p) => {
    const received = p.rule(p.entry(p.rx), [reformat(p.rx, type, data), p.toQueue("a")]);
    p.bytes(p.received(frame), expected);
    p.gets(p.received(FRAME), "drop not_a_tunnel");
    dv.mlx5dv_dr_rule_destroy(received);
    const { tx } = p;
    if (p.manual) {
      const sent = p.rule(p.entry(tx), [reformat(tx, type, data)]);
      p.bytes(p.sent(frame), expected);
      dv.mlx5dv_dr_rule_destroy(sent);
    } else {
      p.refuses("EINVAL", () => reformat(tx, type, data));
    }
    const actions = [reformat(p.fdb, type, data), toPort2(p)];
    p.rule(p.entry(p.fdb), actions, WIRE);
    p.bytes(p.received(frame), expected);
    const both = p.matcher(p.entry(p.fdb));
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", () => p.ruleOf(both, actions));
      return;
    }
    p.ruleOf(both, actions);
    p.bytes(p.sent(frame, 1), expected);
  };

/**
 * Encapsulation on send, and on receive in the FDB except for ConnectX-5; ConnectX has none in
 * NIC_RX.
 */
const encapsulates =
  (type: number, data: Uint8Array, expected: Uint8Array): Run =>
  (p) => {
    const { rx } = p;
    if (p.manual) {
      const received = p.rule(p.entry(rx), [reformat(rx, type, data), p.toQueue("a")]);
      p.bytes(p.received(FRAME), expected);
      dv.mlx5dv_dr_rule_destroy(received);
    } else {
      p.refuses("EINVAL", () => reformat(rx, type, data));
    }
    const sent = p.rule(p.entry(p.tx), [reformat(p.tx, type, data)]);
    p.bytes(p.sent(FRAME), expected);
    dv.mlx5dv_dr_rule_destroy(sent);
    const actions = [reformat(p.fdb, type, data), toPort2(p)];
    p.rule(p.entry(p.fdb), actions, VF1);
    p.bytes(p.sent(FRAME, 1), expected);
    const both = p.matcher(p.entry(p.fdb));
    if (p.older) {
      p.refuses("EINVAL", () => p.ruleOf(both, actions));
    } else {
      p.ruleOf(both, actions);
      p.bytes(p.received(FRAME), expected);
    }
  };

/** The source port of a tunnel that carries a frame of TCP over IPv4: FNV-1a over addresses, protocol and ports. */
function entropyOf(frame: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of [...frame.subarray(26, 34), frame[23]!, ...frame.subarray(34, 38)]) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return 0xc000 | ((hash ^ (hash >>> 14) ^ (hash >>> 28)) & 0x3fff);
}

const REFORMAT: Readonly<Record<string, Run>> = {
  L2_TUNNEL_TO_L2: decapsulates(DECAP_L2, null, VXLAN, INNER),
  L3_TUNNEL_TO_L2: decapsulates(DECAP_L3, L2_HEADER, GRE_L3, joined(L2_HEADER, INNER.subarray(14))),
  L2_TO_L2_TUNNEL: encapsulates(ENCAP_L2, GRE_DATA, encapsulated(GRE_DATA, FRAME)),
  L2_TO_L3_TUNNEL: encapsulates(ENCAP_L3, GRE_L3_DATA, encapsulated(GRE_L3_DATA, FRAME.subarray(14))),
  "UDP lengths, source port": (p) => {
    p.rule(p.entry(p.tx), [reformat(p.tx, ENCAP_L2, VXLAN_DATA)]);
    const outcome = p.sent(FRAME);
    const whole = encapsulated(VXLAN_DATA, FRAME);
    const length = whole.length - 34;
    const port = entropyOf(FRAME);
    p.bytes(outcome, changed(changed(whole, 34, port >> 8, port & 255), 38, length >> 8, length & 255));
  },
  "both ends of a tunnel": (p) => {
    p.rule(p.entry(p.tx), [reformat(p.tx, ENCAP_L2, VXLAN_DATA)]);
    p.rule(p.entry(p.rx), [reformat(p.rx, DECAP_L2), p.toQueue("a")], { "misc.vxlan_vni": 0x1234 });
    // The PF's own rules match before the frame leaves by the port.
    const outcome = p.sent(FRAME);
    p.gets(outcome, "a deliver");
    p.bytes(outcome, FRAME);
  },
  "in a root table": (p) => {
    const root = p.table(p.rx, 0);
    p.rule(root, [reformat(p.rx, DECAP_L2, null, ROOT_LEVEL), p.toQueue("a")]);
    p.bytes(p.received(GRE), INNER);
    const { fdb } = p;
    const make = (): Action => reformat(fdb, ENCAP_L2, GRE_DATA, ROOT_LEVEL);
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", make);
      return;
    }
    p.rule(p.table(fdb, 0), [make(), toPort2(p)]);
    p.bytes(p.received(FRAME), encapsulated(GRE_DATA, FRAME));
  },
  "ROOT_LEVEL and the level of the table": (p) => {
    const [behind, root] = [p.matcher(p.entry(p.rx)), p.matcher(p.table(p.rx, 0))];
    const a = p.toQueue("a");
    const data = L2_HEADER;
    const [level0, level1] = [ROOT_LEVEL, 0].map((flags) => reformat(p.rx, DECAP_L3, data, flags)) as [Action, Action];
    p.refuses("EINVAL", () => p.ruleOf(behind, [level0, a]));
    p.refuses("EINVAL", () => p.ruleOf(root, [level1, a]));
  },
  "FDB of a VF": (p) => {
    const domain = p.domain(dv.MLX5DV_DR_DOMAIN_TYPE_FDB, 1);
    p.refuses("EOPNOTSUPP", () => reformat(domain, DECAP_L2));
  },
  "flags, type, data that do not fit": (p) => {
    const { rx, tx } = p;
    const create = dv.mlx5dv_dr_action_create_packet_reformat;
    p.refuses("EINVAL", () => create(rx, 2, DECAP_L2, 0, null));
    p.refuses("EINVAL", () => create(rx, 0, 4, 0, null));
    p.refuses("EINVAL", () => create(tx, 0, ENCAP_L2, 0, GRE_DATA));
    p.refuses("EINVAL", () => create(tx, 0, ENCAP_L2, 8, null));
    p.refuses("EINVAL", () => create(tx, 0, ENCAP_L2, 0, null));
    p.refuses("EINVAL", () => create(rx, 0, DECAP_L2, 14, L2_HEADER));
    for (const size of [13, 15, 17, 22]) p.refuses("EINVAL", () => create(rx, 0, DECAP_L3, size, new Uint8Array(size)));
    p.refuses("EINVAL", () => create(tx, 0, ENCAP_L2, 1025, new Uint8Array(1025)));
  },
};

const modify = (domain: Domain, actions: dv.ModifyActions, flags = 0): Action =>
  dv.mlx5dv_dr_action_create_modify_header(domain, flags, undefined, actions);
const DMAC: dv.ModifyActions = [{ type: "set", field: "OUT_DMAC_15_0", data: 0xabcd }];
const WITH_DMAC = changed(FRAME, 4, 0xab, 0xcd);
const AWAY = dv.mlx5dv_dr_action_create_dest_table;
/** The TTL of FRAME minus one, with its checksum: RFC 1624, eqn. 3. */
const LESS_TTL = summed(changed(summed(FRAME), 22, 63));

const MODIFY: Readonly<Record<string, Run>> = {
  "SET in NIC_RX": (p) => {
    p.rule(p.entry(p.rx), [modify(p.rx, DMAC), p.toQueue("a")]);
    p.bytes(p.received(FRAME), WITH_DMAC);
  },
  "SET in NIC_TX": (p) => {
    p.rule(p.entry(p.tx), [modify(p.tx, DMAC)]);
    p.bytes(p.sent(FRAME), WITH_DMAC);
  },
  "SET in FDB": (p) => {
    p.rule(p.entry(p.fdb), [modify(p.fdb, DMAC), toPort2(p)]);
    p.bytes(p.received(FRAME), WITH_DMAC);
    p.bytes(p.sent(FRAME, 1), WITH_DMAC);
  },
  "SET in a root table": (p) => {
    p.rule(p.table(p.rx, 0), [modify(p.rx, DMAC, ROOT_LEVEL), p.toQueue("a")]);
    p.bytes(p.received(FRAME), WITH_DMAC);
    const behind = p.matcher(p.entry(p.rx));
    const [root, other] = [modify(p.rx, DMAC, ROOT_LEVEL), modify(p.rx, DMAC)];
    p.refuses("EINVAL", () => p.ruleOf(behind, [root]));
    const matcher = p.matcher(p.table(p.rx, 0), TO_FRAME);
    p.refuses("EINVAL", () => p.ruleOf(matcher, [other, p.toQueue("a")], TO_FRAME));
  },
  "SET of some bits, as bytes and as words": (p) => {
    // SET, OUT_DMAC_15_0 (5), offset 4, length 8, data 0xee.
    const word = 0x1005_0408_0000_00een;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, word);
    for (const list of [[word], bytes]) {
      const rule = p.rule(p.entry(p.rx), [modify(p.rx, list), p.toQueue("a")]);
      p.bytes(p.received(FRAME), changed(FRAME, 4, 0x0e, 0xe1));
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  "ADD, with its checksum": (p) => {
    p.rule(p.entry(p.rx), [modify(p.rx, [{ type: "add", field: "OUT_IP_TTL", data: 0xff }]), p.toQueue("a")]);
    p.bytes(p.received(summed(FRAME)), LESS_TTL);
  },
  COPY: (p) => {
    const list: dv.ModifyActions = [
      { type: "copy", field: "OUT_SMAC_15_0", to: "OUT_DMAC_15_0", length: 16 },
      { type: "copy", field: "OUT_SIPV4", to: "METADATA_REG_C_1", length: 32 },
    ];
    p.rule(p.entry(p.rx), [modify(p.rx, list), p.toQueue("a")]);
    const outcome = p.received(FRAME);
    p.bytes(outcome, changed(FRAME, 4, 0, 2));
    p.registers(outcome, { C1: 0xc0000201 });
  },
  "registers that later tables match": (p) => {
    const second = p.table(p.rx, 2);
    const list: dv.ModifyActions = [0, 1, 2, 3, 4, 5].map((n) => ({
      type: "set",
      field: `METADATA_REG_C_${n}` as dv.ModifyFieldName,
      data: 0x1010 + n,
    }));
    p.rule(p.entry(p.rx), [modify(p.rx, list), AWAY(second)]);
    for (let n = 0; n < 6; n++) p.finds(second, `c_${n}`, 0x1010 + n, () => p.received(FRAME));
    p.registers(p.received(FRAME), Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`C${n}`, 0x1010 + n])));
  },
  "register A in NIC_TX, B in NIC_RX": (p) => {
    const second = p.table(p.tx, 2);
    const set = (field: dv.ModifyFieldName): dv.ModifyActions => [{ type: "set", field, data: 0x77 }];
    p.finds(p.entry(p.tx), "a", 5, () => p.sent(FRAME, 0, 5));
    p.rule(p.entry(p.tx), [modify(p.tx, set("METADATA_REG_A")), AWAY(second)], {}, 8);
    p.finds(second, "a", 0x77, () => p.sent(FRAME, 0, 5));
    p.rule(p.entry(p.rx), [modify(p.rx, set("METADATA_REG_B")), p.toQueue("a")]);
    p.registers(p.received(FRAME), { B: 0x77 });
    const { rx, tx, fdb } = p;
    for (const domain of [rx, fdb]) p.refuses("EINVAL", () => modify(domain, set("METADATA_REG_A")));
    for (const domain of [tx, fdb]) p.refuses("EINVAL", () => modify(domain, set("METADATA_REG_B")));
  },
  "what ConnectX does not change": (p) => {
    const { rx } = p;
    const lists: [string, dv.ModifyActions][] = [
      ["EINVAL", [{ type: "add", field: "OUT_DMAC_15_0", data: 0xabcc }]],
      ["EINVAL", [{ type: "set", field: "METADATA_REG_C_6", data: 1 }]],
      [
        "ENOTSUP",
        [
          { type: "set", field: "OUT_SIPV4", data: 0xc0000201 },
          { type: "set", field: "OUT_SIPV6_31_0", data: 1 },
        ],
      ],
      [
        "EINVAL",
        [
          { type: "set", field: "OUT_TCP_DPORT", data: 80 },
          { type: "set", field: "OUT_UDP_DPORT", data: 80 },
        ],
      ],
    ];
    for (const [code, list] of lists) {
      if (!p.manual) {
        p.refuses(code, () => modify(rx, list));
        continue;
      }
      const rule = p.rule(p.entry(rx), [modify(rx, list), p.toQueue("a")]);
      const added = list === lists[0]![1];
      p.bytes(p.received(FRAME), added ? WITH_DMAC : FRAME);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  "flags, size, fields, offsets, types": (p) => {
    const { rx } = p;
    const create = dv.mlx5dv_dr_action_create_modify_header;
    p.refuses("EINVAL", () => create(rx, 2, undefined, DMAC));
    for (const size of [0, 4, 16]) p.refuses("EINVAL", () => create(rx, 0, size, new Uint8Array(8)));
    p.refuses("EINVAL", () => modify(rx, [0x1fff_0008_0000_0000n]));
    p.refuses("EINVAL", () => modify(rx, [{ type: "set", field: "OUT_DMAC_15_0", data: 1, offset: 9, length: 8 }]));
    for (const type of [0n, 4n, 5n, 6n, 7n, 8n, 15n]) {
      p.refuses("EOPNOTSUPP", () => modify(rx, [(type << 60n) | 0x0005_0008_0000_0000n]));
    }
  },
};

const pop = dv.mlx5dv_dr_action_create_pop_vlan;
const push = (domain: Domain, header: number): Action => dv.mlx5dv_dr_action_create_push_vlan(domain, header);
const TAGGED = tagged(FRAME, 0x8100, 0x2064);
const TWICE = tagged(TAGGED, 0x88a8, 0x0007);

const POP: Readonly<Record<string, Run>> = {
  "in NIC_RX": (p) => {
    p.rule(p.entry(p.rx), [pop(), p.toQueue("a")]);
    for (const frame of [TAGGED, FRAME]) p.bytes(p.received(frame), FRAME);
    p.bytes(p.received(TWICE), TAGGED);
  },
  "two of them": (p) => {
    p.rule(p.entry(p.rx), [pop(), pop(), p.toQueue("a")]);
    p.bytes(p.received(TWICE), FRAME);
    const matcher = p.matcher(p.entry(p.rx));
    const three = [pop(), pop(), pop(), p.toQueue("a")];
    if (!p.manual) p.refuses("EINVAL", () => p.ruleOf(matcher, three));
  },
  "in NIC_TX": (p) => {
    const matcher = p.matcher(p.entry(p.tx));
    const away = AWAY(p.table(p.tx, 2));
    const make = () => p.ruleOf(matcher, [pop(), away]);
    if (p.older) {
      p.refuses("EINVAL", make);
      return;
    }
    make();
    p.bytes(p.sent(TAGGED), FRAME);
  },
  "in FDB": (p) => {
    const matcher = p.matcher(p.entry(p.fdb));
    const actions = [pop(), toPort2(p)];
    if (p.older) p.refuses("EINVAL", () => p.ruleOf(matcher, actions));
    p.rule(p.entry(p.fdb), actions, WIRE);
    p.bytes(p.received(TAGGED), FRAME);
    if (p.older) return;
    p.ruleOf(matcher, actions);
    p.bytes(p.sent(TAGGED, 1), FRAME);
  },
  "in a root table": (p) => {
    const matcher = p.matcher(p.table(p.rx, 0));
    const a = p.toQueue("a");
    if (!p.manual) {
      p.refuses("ENOTSUP", () => p.ruleOf(matcher, [pop(), a]));
      return;
    }
    p.ruleOf(matcher, [pop(), a]);
    p.bytes(p.received(TAGGED), FRAME);
  },
  "behind a modify header": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const actions = [modify(p.rx, DMAC), pop(), p.toQueue("a")];
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", () => p.ruleOf(matcher, actions));
      return;
    }
    p.ruleOf(matcher, actions);
    p.bytes(p.received(TAGGED), WITH_DMAC);
  },
};

const PUSH: Readonly<Record<string, Run>> = {
  "in NIC_TX": (p) => {
    p.rule(p.entry(p.tx), [push(p.tx, 0x81002064)]);
    p.bytes(p.sent(FRAME), TAGGED);
  },
  "two of them: the second one is the outermost": (p) => {
    p.rule(p.entry(p.tx), [push(p.tx, 0x81002064), push(p.tx, 0x88a80007)]);
    p.bytes(p.sent(FRAME), TWICE);
    const matcher = p.matcher(p.entry(p.tx));
    const three = [1, 2, 3].map((vid) => push(p.tx, 0x81000000 + vid));
    if (!p.manual) p.refuses("ENOTSUP", () => p.ruleOf(matcher, three));
  },
  "in NIC_RX": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const actions = [push(p.rx, 0x81002064), p.toQueue("a")];
    if (p.older) {
      p.refuses("EINVAL", () => p.ruleOf(matcher, actions));
      return;
    }
    p.ruleOf(matcher, actions);
    p.bytes(p.received(FRAME), TAGGED);
  },
  "in FDB": (p) => {
    const matcher = p.matcher(p.entry(p.fdb));
    const actions = [push(p.fdb, 0x81002064), toPort2(p)];
    if (p.older) p.refuses("EINVAL", () => p.ruleOf(matcher, actions));
    p.rule(p.entry(p.fdb), actions, VF1);
    p.bytes(p.sent(FRAME, 1), TAGGED);
    if (p.older) return;
    p.ruleOf(matcher, actions);
    p.bytes(p.received(FRAME), TAGGED);
  },
  "a TPID that is none": (p) => {
    const { tx } = p;
    for (const header of [0x08000064, 0x91000064]) p.refuses("EINVAL", () => push(tx, header));
  },
};

export const PACKET_CASES: readonly Case[] = [
  ...casesOf("action_create_packet_reformat", REFORMAT),
  ...casesOf("action_create_modify_header", MODIFY),
  ...casesOf("action_create_pop_vlan", POP),
  ...casesOf("action_create_push_vlan", PUSH),
];
