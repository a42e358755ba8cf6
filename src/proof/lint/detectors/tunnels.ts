/** Decapsulation of frames that have no tunnel. */
import { Op } from "../../../abi/engine.js";
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_TUNNEL,
  KEY_SIZE,
  PRESENT_ETH,
  PRESENT_IPV4,
  PRESENT_IPV6,
} from "../../../abi/key.js";
import { HEADERS, TUNNELS as OWN, UDP_TUNNELS } from "../../../headers/headers.js";
import { L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2, REFORMAT_TYPE } from "../../../abi/reformat.js";
import type { KeyMatch } from "../../../explain/match/terms.js";
import type { ParserDeclaration } from "../../../model/base/parser.js";
import { fieldNamed, writeField, type Field } from "../../../model/match/fields.js";
import { fullMask } from "../../../model/match/term.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import type { Witness } from "../../answer.js";
import { presenceBit } from "../../path/levels.js";
import { leftOut } from "../../path/search.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, installedObject } from "../objects.js";
import { witnessOf } from "../../path/witness.js";

const DECAPSULATES: ReadonlySet<number> = new Set([L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2]);
const UDP_PORT = fieldNamed("outer.udp_dport") as Field;

/** Frames that have a tunnel, or what announces one: who asks for these need not ask for more. */
const tunneled = ({ udpPorts }: ParserDeclaration): readonly KeyMatch[] => [
  ...[PRESENT_ETH, PRESENT_IPV4, PRESENT_IPV6].map((header) => having(EXT_PRESENT_INNER, header)),
  ...OWN.map((header) => having(EXT_PRESENT_TUNNEL, HEADERS[header].present.tunnel)),
  ...UDP_TUNNELS.flatMap((header) => udpPorts[header].map(toPort)),
];

function having(word: number, header: number): KeyMatch {
  const bit = presenceBit(word, header);
  const mask = new Uint8Array(KEY_SIZE);
  mask[bit >> 3] = 0x80 >> (bit & 7);
  return { mask, value: mask, ranges: [] };
}

function toPort(port: number): KeyMatch {
  const match = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE), ranges: [] };
  writeField(match.mask, UDP_PORT, fullMask(UDP_PORT));
  writeField(match.value, UDP_PORT, BigInt(port));
  return match;
}

function decapsulates({ tracer: { traced } }: LintContext, { stored }: RuleNode): boolean {
  const actions = traced.actionsOf(stored);
  return actions.some((operand, i) => {
    if (i % 2 === 0 || actions[i - 1] !== (Op.reformat as number)) return false;
    return DECAPSULATES.has(traced.core.u8[operand + REFORMAT_TYPE] as number);
  });
}

/** A frame without a tunnel that ends at the rule. */
function ended(context: LintContext, rule: RuleNode): Witness | null {
  const except = tunneled(context.device.parser).map((keys) => leftOut(keys));
  const found = context.cover.find({ table: rule.table, rule }, { except });
  if (found.kind !== "frame" || found.before.length > 0) return null;
  const { trace, lookups } = context.walk(found.last);
  const isEnd = lookups.at(-1)?.rule === rule.stored.address && trace.outcome.reason === "not_a_tunnel";
  return isEnd ? witnessOf(found) : null;
}

export const TUNNELS: readonly LintDetector[] = [
  {
    id: "decapsulation-without-tunnel",
    severity: "warning",
    *detect(context) {
      for (const { rule, node } of context.directMatches()) {
        const witness = decapsulates(context, node) ? ended(context, node) : null;
        if (witness === null) continue;
        const object = installedObject(rule);
        yield {
          objects: [object],
          sentence: `${called(object)} decapsulates, but also takes frames without a tunnel. The device drops such frames (not_a_tunnel). Match a field of the tunnel or of the inner packet.`,
          witness,
        };
      }
    },
  },
];
