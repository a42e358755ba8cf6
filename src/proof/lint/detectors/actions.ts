/** Actions of direct rules that lose frames, make wrong ones, or have no effect. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import {
  L2_TO_L2_TUNNEL,
  L2_TO_L3_TUNNEL,
  REFORMAT_DATA,
  REFORMAT_LENGTH,
  REFORMAT_TYPE,
  REFORMAT_UDP,
} from "../../../abi/reformat.js";
import { HEADERS, UDP_TUNNELS } from "../../../headers/headers.js";
import { actionsOf } from "../../../explain/trace/objects.js";
import type { Action, ActionKind } from "../../../model/action/action.js";
import type { UdpPorts } from "../../../model/base/parser.js";
import { fieldNamed, readField, type Field } from "../../../model/match/fields.js";
import type { LintContext } from "../context.js";
import type { Found, LintDetector } from "../detector.js";
import { called, installedObject } from "../objects.js";
import type { Rule } from "../../../model/rule/rule.js";

/** Actions that change a frame or what its receiver learns, and nothing else. */
const LOST_WITH_FRAME: readonly ActionKind[] = ["tag", "packet_reformat", "modify_header", "pop_vlan", "push_vlan"];

const WORDS: Readonly<Partial<Record<ActionKind, string>>> = {
  tag: "the tag",
  packet_reformat: "the reformat",
  modify_header: "the header changes",
  pop_vlan: "pop_vlan",
  push_vlan: "push_vlan",
};

/** All tunnels over UDP have headers of 8 bytes at least, but labels. */
const SHORTEST = 8;

/** The data that an encapsulation puts in front, and the offset of its UDP header; 0 for none. */
interface Encapsulation {
  readonly type: number;
  readonly data: DataView;
  readonly udp: number;
  readonly udpPorts: UdpPorts;
}

function encapsulationOf({ device }: LintContext, { kind, operand, reformatType }: Action): Encapsulation | null {
  if (kind !== "packet_reformat" || (reformatType !== L2_TO_L2_TUNNEL && reformatType !== L2_TO_L3_TUNNEL)) return null;
  const { u8 } = device.core;
  const record = new DataView(u8.buffer, u8.byteOffset + operand);
  const length = record.getUint16(REFORMAT_LENGTH, true);
  return {
    type: record.getUint8(REFORMAT_TYPE),
    data: new DataView(u8.buffer, u8.byteOffset + operand + REFORMAT_DATA, length),
    udp: record.getUint16(REFORMAT_UDP, true),
    udpPorts: device.parser.udpPorts,
  };
}

/** A finding for each rule with an encapsulation over UDP that `judge` finds a fault in. */
function overUdp(id: string, judge: (encapsulation: Encapsulation, port: number) => string | null): LintDetector {
  return {
    id,
    severity: "warning",
    *detect(context) {
      for (const rule of context.directRules()) {
        for (const action of actionsOf(rule)) {
          const found = encapsulationOf(context, action);
          if (found === null || found.udp === 0) continue;
          const sentence = judge(found, found.data.getUint16(found.udp + 2));
          if (sentence !== null) yield ruleFound(rule, sentence);
        }
      }
    },
  };
}

function ruleFound(rule: Rule, sentence: string): Found {
  const object = installedObject(rule);
  return { objects: [object], sentence: `${called(object)} ${sentence}` };
}

const noDestination: LintDetector = {
  id: "no-destination",
  severity: "warning",
  *detect(context) {
    for (const rule of context.directRules()) {
      if (rule.matcher.table.domain.type !== "nic_rx") continue;
      if (rule.actions.some(({ isTerminal, kind }) => isTerminal || kind === "flow_sampler")) continue;
      yield ruleFound(
        rule,
        "has no destination, so its frames are dropped (no_destination). End it with a queue, a table, drop or default_miss.",
      );
    }
  },
};

const withoutEffect: LintDetector = {
  id: "action-without-effect",
  severity: "note",
  *detect(context) {
    for (const rule of context.directRules()) {
      if (!rule.actions.some(({ kind }) => kind === "drop")) continue;
      const lost = rule.actions.filter(({ kind }) => LOST_WITH_FRAME.includes(kind));
      if (lost.length === 0) continue;
      const words = [...new Set(lost.map(({ kind }) => WORDS[kind] ?? kind))].join(" and ");
      yield ruleFound(rule, `drops its frames, so ${words} has no effect.`);
    }
  },
};

const SOURCE_PORT = fieldNamed("misc.source_port") as Field;

const wireToWire: LintDetector = {
  id: "wire-to-wire",
  severity: "warning",
  *detect(context) {
    const { device, rules } = context;
    const seen = new Set<number>();
    for (const table of context.tables) {
      for (const node of rules.rulesOf(table)) {
        const { mask, value } = rules.contentOf(node);
        const wire = readField(mask, SOURCE_PORT) === 0xffffn && readField(value, SOURCE_PORT) === BigInt(VPORT_UPLINK);
        const back = ({ kind, to }: { kind: string; to: number }): boolean =>
          (kind === "vport" && to === VPORT_UPLINK) || (kind === "port" && device.ports === 1);
        if (!wire || seen.has(node.object.id) || !context.linksOf(node).some(back)) continue;
        seen.add(node.object.id);
        const object = installedObject(node.object);
        yield {
          objects: [object],
          field: "misc.source_port",
          sentence: `${called(object)} takes frames from the wire and sends them back there. The device drops such frames (wire_to_wire).`,
        };
      }
    }
  },
};

export const ACTIONS: readonly LintDetector[] = [
  noDestination,
  wireToWire,
  overUdp("encapsulation-checksum", ({ data, udp }) => {
    const checksum = data.getUint16(udp + 6);
    return checksum === 0
      ? null
      : `encapsulates with the UDP checksum 0x${checksum.toString(16).padStart(4, "0")}. The device does not compute it, so receivers drop the frames. Set it to 0.`;
  }),
  overUdp("reformat-without-room", ({ data, udp, udpPorts }, port) => {
    const tunnel = UDP_TUNNELS.find((header) => udpPorts[header].includes(port));
    if (tunnel === undefined || tunnel === "mpls") return null;
    const { name } = HEADERS[tunnel];
    const room = data.byteLength - udp - 8;
    return room >= SHORTEST
      ? null
      : `encapsulates for ${name} (UDP port ${port}), but its data has no room for the ${name} header: ${room} bytes follow the UDP header, ${SHORTEST} are needed.`;
  }),
  overUdp("reformat-type", ({ type, data, udp, udpPorts }, port) => {
    const vxlan = udpPorts.vxlan.includes(port);
    if (!vxlan || type !== L2_TO_L3_TUNNEL || data.byteLength < udp + 16) return null;
    return "encapsulates for VXLAN, whose packets begin with Ethernet, but l2_to_l3_tunnel removes the Ethernet header. Use l2_to_l2_tunnel.";
  }),
  withoutEffect,
];
