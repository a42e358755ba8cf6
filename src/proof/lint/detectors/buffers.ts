/** Receive buffers that no frame of a rule fits in. */
import { IBV_QPT_RAW_PACKET } from "../../../abi/verbs.js";
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  PRESENT_ETH,
  PRESENT_GRE,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_TCP,
  PRESENT_UDP,
} from "../../../abi/key.js";
import { UDP_PORTS } from "../../../headers/announcers.js";
import { HEADERS, TUNNELS } from "../../../headers/headers.js";
import type { KeyMatch } from "../../../explain/match/terms.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import { someOperation } from "../../../model/action/operations.js";
import { QueuePair } from "../../../model/queuePair/queuePair.js";
import { WorkQueue } from "../../../model/queue/workQueue.js";
import { hasBit } from "../../path/bits.js";
import { presenceBit } from "../../path/levels.js";
import type { Witness } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, mentioned, namedObject } from "../objects.js";
import { witnessOf } from "../../path/witness.js";

const ETHERNET = 14;
const IPV4 = 20;
const IPV6 = 40;
const TCP = 20;
const UDP = 8;
const GRE = 4;
/** VXLAN, VXLAN-GPE, Geneve and GTP-U. */
const OVER_UDP = 8;
const TUNNELS_OVER_UDP = TUNNELS.filter((header) => header in UDP_PORTS);

/** The length of the shortest Ethernet frame that has the headers which a match asks for. */
function leastLength({ mask, value }: KeyMatch): number {
  const asks = (word: number, header: number): boolean => {
    const bit = presenceBit(word, header);
    return hasBit(mask, bit) && hasBit(value, bit);
  };
  /** The headers from IP on; `more` follow UDP or IP. */
  const packet = (word: number, more: number, hasMore: boolean): number => {
    const [tcp, udp] = [asks(word, PRESENT_TCP), asks(word, PRESENT_UDP)];
    const ip = [PRESENT_IPV4, PRESENT_IPV6, PRESENT_L3].some((header) => asks(word, header));
    if (!tcp && !udp && !ip && !hasMore) return 0;
    return (asks(word, PRESENT_IPV6) ? IPV6 : IPV4) + (tcp ? TCP : udp ? UDP : 0) + more;
  };
  const innerPacket = packet(EXT_PRESENT_INNER, 0, false);
  const inner = (asks(EXT_PRESENT_INNER, PRESENT_ETH) ? ETHERNET : 0) + innerPacket;
  const overUdp = TUNNELS_OVER_UDP.some((header) => asks(EXT_PRESENT_TUNNEL, HEADERS[header].present.tunnel));
  const gre = asks(EXT_PRESENT_TUNNEL, PRESENT_GRE);
  const udp = overUdp && !asks(EXT_PRESENT_OUTER, PRESENT_UDP) ? UDP : 0;
  const tunnel = (overUdp ? udp + OVER_UDP : 0) + (gre ? GRE : 0);
  const outer = packet(EXT_PRESENT_OUTER, tunnel + inner, overUdp || gre || inner > 0);
  return outer > 0 || asks(EXT_PRESENT_OUTER, PRESENT_ETH) ? ETHERNET + outer : 0;
}

/** The queues that a rule gives its frames to as they are, with the longest buffer that each has. */
function* queuesOf(
  context: LintContext,
  rule: RuleNode,
): Iterable<{ readonly queue: QueuePair | WorkQueue; readonly longest: number }> {
  const actions = context.tracer.traced.actionsOf(rule.stored);
  if (someOperation(actions, ({ shortens }) => shortens === true)) return;
  for (const { kind, to } of context.linksOf(rule)) {
    const queue = kind === "queue" ? context.device.queues.get(to) : undefined;
    const raw = queue instanceof QueuePair && queue.qp_type === IBV_QPT_RAW_PACKET;
    if (queue === undefined || !(raw || queue instanceof WorkQueue)) continue;
    const lengths = queue.bufferLengths;
    if (lengths.length > 0) yield { queue, longest: Math.max(...lengths) };
  }
}

/** A frame that hits a rule, if its queue refuses it. */
function refused(context: LintContext, rule: RuleNode): Witness | null {
  const found = context.cover.find({ table: rule.table, rule });
  if (found.kind !== "frame" || found.before.length > 0) return null;
  const { trace } = context.walk(found.last);
  const isRefused = trace.steps.some(
    (step) => step.kind === "destination" && step.refused === "receive_buffer_too_short",
  );
  return isRefused ? witnessOf(found) : null;
}

export const BUFFERS: readonly LintDetector[] = [
  {
    id: "receive-buffer",
    severity: "warning",
    *detect(context) {
      const { rules, tables } = context;
      for (const table of tables) {
        for (const node of rules.rulesOf(table)) {
          for (const { queue, longest } of queuesOf(context, node)) {
            const least = leastLength(rules.contentOf(node));
            const witness = least > longest ? refused(context, node) : null;
            if (witness === null) continue;
            const [object, by] = [namedObject("queue", queue), context.objectOf(node)];
            yield {
              objects: [object, by],
              sentence: `${called(object)} has receive buffers of at most ${longest} bytes, but every frame of ${mentioned(by)} has at least ${least}. The queue refuses such frames (receive_buffer_too_short). Post longer buffers.`,
              witness,
            };
          }
        }
      }
    },
  },
];
