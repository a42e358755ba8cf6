/** Which lines of a text hold flows, groups, ports or commands. */
import { inOrder } from "../../text/inOrder.js";
import { commandWithin } from "../../text/lines.js";
import { isShown } from "./bridge/configuration.js";

export const TOOL =
  /^(?:(?:docker|podman|kubectl|oc|lxc|crictl)\s.{0,160}?\s|\S*\/)?ovs-(?:ofctl|vsctl|appctl|dpctl)\d?(?=\s|$)/;

/** What a flow begins with: its words, before or without a value. */
const FLOW =
  /^(?:(?:add|modify|modify_strict|delete|delete_strict|flow)\s+)?(?:actions?=|in_port\([^()]*\).*\bactions?=|(?:cookie|duration|table|priority|n_packets|idle_timeout|hard_timeout|in_port|(?:dl|nw|tp|eth|ip|ipv6|arp|nd|tcp|udp|sctp|icmp|icmpv6|vlan|mpls|tun|tunnel|ct|pkt|metadata|reg|xreg|xxreg|send_flow|NXM|OXM)).*\bactions?=|cookie=)/;
/** Flows in the log of ovn-controller. */
const LOGGED = /^\S+\|ofctrl_add_flow flow: /;
const GROUP = /^(?:add\s+)?group_id=/;
const METER = /^(?:add\s+)?meter=\d/;
const PORT = /^(?:(\d+|LOCAL)\(([^()]+)\): addr:|port (\d+): (\S+)(?: \((?:(\w+)\b)?.*\))?)/;
const HEADING =
  /^(?:executing command|(?:NXST|OFPST|OFPT)_\w+|EOF\b|END\b|fi$|done$|then$|do$|set [-+]|(?:config|state|current|advertised|supported|peer|speed|n_tables|capabilities|actions): |dpid:|n_tables:|capabilities:|actions: OUTPUT|config:|state:|speed:|system@|flow-dump from |lookups: |flows: |masks: |cache: |caches: |[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$|(?:Controller|Manager) "|is_connected: |fail_mode: |datapath_type: |tag: |trunks: |ovs_version: |error: ")/;

/** Flows whose first word is not known too: that word is refused by its name. */
export function isFlow(text: string): boolean {
  return FLOW.test(text) || ACTIONS.test(text);
}

const ACTIONS = /\bactions?=/;

export function isGroup(text: string): boolean {
  return GROUP.test(text);
}

export function isMeter(text: string): boolean {
  return METER.test(text);
}

/** What a datapath flow begins with. */
const DATAPATH = /^(?:ufid:|(?:recirc_id|in_port|tunnel|skb_priority|skb_mark|ct_state|ct_zone|ct_mark|dp_hash|eth)\()/;

export function isDatapathFlow(text: string): boolean {
  return (DATAPATH.test(text) || inOrder(text, DATAPATH_KEY, /\bactions:/)) && !ACTIONS.test(text);
}

const DATAPATH_KEY = /\b(?:recirc_id|in_port)\(/;

/** What `ovn-sbctl lflow-list` prints. */
export function isLogicalFlow(text: string): boolean {
  return inOrder(text, /\bmatch=\(/, /\baction=\(/);
}

export function isCommand(text: string, before: string): boolean {
  if (TOOL.test(text)) return true;
  // A tool has a root prompt in front of it, a flow only the sign of a comment.
  if (before.includes("#")) return false;
  return (
    DATAPATH.test(text) ||
    FLOW.test(text) ||
    GROUP.test(text) ||
    METER.test(text) ||
    PORT.test(text) ||
    isShown(text) ||
    LOGGED.test(text)
  );
}

const COMMANDS = commandWithin(
  /(?<![\w-])ovs-(?:(?:of|dp)ctl\d?(?:\s+-\S{1,40}(?:\s+OpenFlow\d\d)?){0,4}\s+(?:(?:add|mod|del|dump|replace|insert|remove)-\w|show|bundle)|vsctl\s+(?:-|\w+-(?:br|port)\b|set\s)|appctl\s+\w+\/)/,
);

/** A tool that other text stands in front of, or a flow that begins with words that are not known. */
export function commandAfter(line: string, from: number): number | undefined {
  const command = COMMANDS(line, from);
  if (command !== undefined) return command;
  const rest = line.slice(from);
  if (!isFlow(rest) && !isDatapathFlow(rest)) return undefined;
  const first = from + rest.search(/[$\w]/);
  return line[first - 1] === "$" ? first - 1 : first;
}

/** Lines around flows that say nothing of frames. */
export function isHeading(text: string): boolean {
  return HEADING.test(text);
}

interface PortLine {
  readonly number: string;
  readonly name: string;
  readonly type: string | undefined;
  /** Whether a line of this kind has the type of a port that has one. */
  readonly isTyped: boolean;
}

/** A line of `ovs-ofctl show` or `ovs-dpctl show`. */
export function readPortLine(text: string): PortLine | undefined {
  const [, number, name, port, dpName, type] = PORT.exec(text) ?? [];
  if (number !== undefined && name !== undefined) return { number, name, type: undefined, isTyped: false };
  if (port !== undefined && dpName !== undefined) return { number: port, name: dpName, type, isTyped: true };
  return undefined;
}
