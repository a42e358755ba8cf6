/** `parsePacket` reads packet notation: docs/packet.md, "Packets in one line". */
import { describe } from "../../base/checks.js";
import { SteeringError } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { HEADERS as RECORDS } from "../../headers/headers.js";
import type { HeaderRecord } from "../../headers/record.js";
import { buildFrame, type Layer } from "../builder/build.js";
import { LINK_TYPES } from "../capture/linkTypes.js";
import { LAYOUTS, type LaidOutHeader } from "../layout.js";
import { HeaderReader, type Noted, type NotedHeader } from "./header.js";
import { CALL, refuseAt, tokensOf, type Token } from "./tokens.js";

export interface ParsedPacket {
  /** Headers for `buildFrame`. */
  readonly layers: Layer[];
  /** LINKTYPE_* of the first header. */
  readonly linkType: number;
}

/** The keyword of a frame without a link layer: `raw / ipv4`. */
const RAW = "raw";
const HEADERS = Object.keys(LAYOUTS) as LaidOutHeader[];
const NAMES = [...HEADERS, "payload", "trailer", RAW];

/** Shorter names of headers. */
const SHORT_HEADERS: Readonly<Record<string, LaidOutHeader>> = { eth: "ethernet" };

/** First headers of frames, and their link types. */
const LINKS: Readonly<Record<string, number>> = {
  ethernet: LINK_TYPES.ETHERNET,
  loopback: LINK_TYPES.LOOP,
  linux_cooked: LINK_TYPES.LINUX_SLL,
  linux_cooked_v2: LINK_TYPES.LINUX_SLL2,
};

const IP: readonly NotedHeader[] = HEADERS.filter((name) => /^ip|^ah$/.test(name));
/** Headers after which an IP packet can begin. */
const CARRIES_IP: readonly NotedHeader[] = [
  "vlan",
  "mpls",
  "gre",
  "vxlan",
  "vxlan_gpe",
  "geneve",
  "gtpu",
  "gtpu_extension",
];
/** Headers that lie in an IP packet, and those that lie in a UDP datagram. */
const IN_IP: readonly NotedHeader[] = ["tcp", "udp", "icmp", "sctp", "ah", "gre"];
const IN_IPV6: readonly NotedHeader[] = ["icmpv6", ...HEADERS.filter((name) => name.startsWith("ipv6_"))];
const IN_UDP: readonly NotedHeader[] = HEADERS.filter(
  (name) => Object.keys((RECORDS[name] as HeaderRecord).announced ?? {}).join() === "port",
);

/**
 * The headers of a packet in one line, from the outermost on, with `/` between them.
 *
 *     parsePacket("ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443 [S]");
 *
 * Fields that the text leaves out get the values that `buildFrame` gives them. So do headers that must lie between: `vxlan vni 5`
 * is Ethernet, IPv4, UDP, VXLAN and Ethernet.
 *
 * @throws SteeringError EINVAL: a word that the header does not take, or a value that does not fit. The path is the column.
 */
export function parsePacket(text: string): ParsedPacket {
  if (typeof text !== "string") throw new TypeError(`${CALL}: text must be a string, not ${describe(text)}`);
  const noted = headersOf(text);
  const raw = noted[0] === null;
  const written = noted.filter((one) => one !== null);
  const all = raw ? written : written.flatMap((one, i) => [...impliedBefore(written[i - 1]?.header, one), one]);
  const layers = all.map(({ header, fields }) => ({ header, ...Object.fromEntries(fields) }) as Layer);
  checkLayers(layers, all);
  return { layers, linkType: raw ? LINK_TYPES.RAW : (LINKS[all[0]?.header ?? ""] ?? LINK_TYPES.ETHERNET) };
}

/** The headers as they are written; null for `raw`. */
function headersOf(text: string): (Noted | null)[] {
  const all: (Noted | null)[] = [];
  let tokens: Token[] = [];
  const end = { kind: "/", text: "", column: text.length + 1 } as const;
  for (const token of [...tokensOf(text), end]) {
    if (token.kind !== "/") {
      tokens.push(token);
      continue;
    }
    all.push(headerOf(tokens, token, all.length));
    tokens = [];
  }
  return all;
}

function headerOf([name, ...rest]: readonly Token[], end: Token, index: number): Noted | null {
  if (name?.kind !== "word") {
    const { column, text } = name ?? end;
    const hint = `a header comes here: ${NAMES.join(", ")}`;
    return refuseAt(column, { reason: "bad_packet", value: text, hint });
  }
  const written = name.text.toLowerCase();
  const header = Object.hasOwn(SHORT_HEADERS, written) ? (SHORT_HEADERS[written] as LaidOutHeader) : written;
  if (!NAMES.includes(header)) {
    return refuseAt(name.column, { reason: "bad_header", value: name.text, hint: allNames(name.text) });
  }
  if (header !== RAW) return new HeaderReader(header as NotedHeader, name.column, rest).read();
  if (index === 0 && rest.length === 0) return null;
  const hint = "raw comes first and alone: raw / ipv4 10.0.0.1 > 10.0.0.7";
  return refuseAt(name.column, { reason: "bad_packet", value: name.text, hint });
}

/** All names, not the first twelve: there is no other list at hand. */
function allNames(word: string): string {
  const near = /^did you mean "[^"]*"\?/.exec(namesHint(word, "headers", NAMES))?.[0];
  return `${near === undefined ? "" : `${near} `}headers: ${NAMES.join(", ")}`;
}

/** Headers that lie between two that were written. */
function impliedBefore(before: NotedHeader | undefined, { header, column }: Noted): Noted[] {
  const implied = impliedName(before, header);
  if (implied === null) return [];
  const one: Noted = { header: implied, column, fields: new Map(), columns: new Map() };
  return [...impliedBefore(before, one), one];
}

function impliedName(before: NotedHeader | undefined, header: NotedHeader): NotedHeader | null {
  const link = before === undefined || LINKS[before] !== undefined || CARRIES_IP.includes(before);
  if (IN_UDP.includes(header) && (link || IP.includes(before))) return "udp";
  if (IN_IPV6.includes(header) && link) return "ipv6";
  if ((IN_IP.includes(header) || header === "esp") && link) return "ipv4";
  if (before === "vxlan" && header !== "ethernet" && header !== "payload" && header !== "trailer") return "ethernet";
  if (before === undefined && LINKS[header] === undefined) return "ethernet";
  return null;
}

/** Builds the frame once, so that a refusal names the column in place of the layer. */
function checkLayers(layers: readonly Layer[], noted: readonly Noted[]): void {
  try {
    buildFrame(layers);
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    const { reason, value, hint, path } = error;
    const [, index = "0", field = ""] = /^layers\[(\d+)\](?:\.(\w+))?/.exec(path ?? "") ?? [];
    const one = noted[Number(index)];
    const named = (text: string, i: string, name: string): string => `${name} of ${noted[Number(i)]?.header ?? text}`;
    refuseAt(one?.columns.get(field) ?? one?.column ?? 1, {
      reason,
      value: value ?? field,
      hint: hint?.replace(/layers\[(\d+)\]\.(\w+)/g, named),
    });
  }
}
