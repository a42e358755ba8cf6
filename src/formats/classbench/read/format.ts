/** Rule sets and traces of ClassBench, as a format. */
import { formatIpv4, formatIpv6 } from "../../../packet/addresses.js";
import type { ScenarioHeader } from "../../../scenario/frame/headers.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { ElementGroups, Format, Importer } from "../../reading/format.js";
import { BadLine, parseFilter, parseHeader, type FilterLine, type HeaderLine, type Network } from "./lines.js";

const TCP = 6;
const UDP = 17;
const QUEUE = "matched";
const TABLE = "classbench";
const MAX_TAGS = 2 ** 24;

const ELEMENTS: ElementGroups = {
  Lines: {
    "@SRC/LEN DST/LEN LO : HI LO : HI PROTOCOL/MASK": {
      becomes:
        "a rule with the number of its line as tag; one of TCP and one of UDP where ports are matched and the protocol is not",
    },
    "FLAGS/MASK": { becomes: "nothing, as in ClassBench's own traces: masks other than 0 are reported" },
    "SRC DST SPORT DPORT PROTOCOL ...": { becomes: "a frame; what follows (the line that wins) is not read" },
  },
};

class ClassBenchImport implements Importer {
  #line = 0;
  #isTold = false;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  add(text: string): void {
    let number = 0;
    for (const raw of text.split("\n")) {
      number++;
      const line = raw.replace(/\r$/, "");
      const at = /^\s*(?:[+>]\s*)?(?=@)/.exec(line)?.[0].length;
      if (at !== undefined) this.#filter(line.slice(at), { line: number, column: at + 1 });
      else if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
      else this.#other(line, number);
    }
  }

  #filter(text: string, place: { line: number; column: number }): void {
    const name = `line ${this.#line++}`;
    this.draft.comesFrom(place, name);
    try {
      this.#rules(parseFilter(text), name, place);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      this.findings.refuse(
        { line: place.line, column: place.column + error.column - 1 },
        error.text === "" ? text : error.text,
        error.message,
      );
    }
  }

  #rules(filter: FilterLine, name: string, place: { line: number; column: number }): void {
    const { draft, findings } = this;
    if (filter.hasFlags && !this.#isTold) {
      this.#isTold = true;
      findings.assume(place, name, "the flags column is ignored");
    }
    const protocols = protocolsOf(filter);
    if (protocols === undefined) {
      findings.refuse(place, name, "it matches ports of a protocol without ports");
      return;
    }
    const tag = this.#line - 1;
    if (tag >= MAX_TAGS) findings.assume(place, name, "tags have 24 bits: the rule has none");
    if (!draft.has("tables", TABLE)) this.#begin(place);
    for (const protocol of protocols) {
      const suffix = protocols.length === 1 ? "" : protocol === TCP ? " tcp" : " udp";
      draft.push("rules", {
        name: draft.freeName("rules", `${name}${suffix}`),
        table: TABLE,
        match: matchOf(filter, protocol),
        actions: [...(tag < MAX_TAGS ? [{ tag }] : []), { queue: draft.queue(QUEUE) }],
      });
    }
  }

  /** The table: rules of one priority in it are matched in their order. */
  #begin(place: { line: number; column: number }): void {
    const root = this.draft.root("nic_rx");
    this.draft.push("tables", { name: TABLE, level: 1 });
    this.draft.push("rules", {
      name: this.draft.freeName("rules", "all frames"),
      table: root,
      actions: [{ table: TABLE }],
    });
    this.findings.assume(
      place,
      "@",
      `lines have no actions: frames that match one go to queue "${QUEUE}" with its line number as tag`,
    );
  }

  #other(line: string, number: number): void {
    const header = parseHeader(line);
    const place = { line: number, column: 1 };
    if (header !== undefined) this.draft.push("frames", { headers: headersOf(header) });
    else this.findings.refuse(place, line.trim().slice(0, SHOWN), "neither a rule (@SRC DST ...) nor a trace header");
  }
}

const SHOWN = 80;

/** The protocols that a line is for: null where it does not ask; undefined where no frame can match. */
function protocolsOf({ sport, dport, protocol, protocolMask }: FilterLine): (number | null)[] | undefined {
  const asksPorts = [sport, dport].some(([low, high]) => low !== 0 || high !== 65535);
  if (!asksPorts) return [null];
  const both = [TCP, UDP].filter((one) => (one & protocolMask) === protocol);
  return both.length === 0 ? undefined : both;
}

function matchOf(
  { version, src, dst, sport, dport, protocol, protocolMask }: FilterLine,
  l4: number | null,
): Record<string, string | number> {
  const match: Record<string, string | number> = { "outer.ip_version": version };
  for (const [name, of] of [
    ["src", src],
    ["dst", dst],
  ] as const)
    if (of.length > 0) match[`outer.ipv${version}_${name}`] = networkText(of, version);
  if (l4 !== null) match["outer.ip_protocol"] = l4;
  else if (protocolMask === 0xff) match["outer.ip_protocol"] = protocol;
  else if (protocolMask !== 0) match["outer.ip_protocol"] = `${protocol}/0x${protocolMask.toString(16)}`;
  if (l4 === null) return match;
  const prefix = l4 === TCP ? "outer.tcp" : "outer.udp";
  for (const [name, [low, high]] of [
    ["sport", sport],
    ["dport", dport],
  ] as const) {
    if (low === high) match[`${prefix}_${name}`] = low;
    else if (low > 0 || high < 65535) match[`${prefix}_${name}`] = `${low}-${high}`;
  }
  return match;
}

function networkText({ address, length }: Network, version: 4 | 6): string {
  const text = version === 4 ? formatIpv4(address) : formatIpv6(address);
  return length === (version === 4 ? 32 : 128) ? text : `${text}/${length}`;
}

function headersOf({ src, dst, sport, dport, protocol }: HeaderLine): ScenarioHeader[] {
  const ip = { header: "ipv4", source: formatIpv4(BigInt(src)), destination: formatIpv4(BigInt(dst)) };
  const l4 = protocol === TCP || protocol === UDP;
  const ports = { header: protocol === TCP ? "tcp" : "udp", source_port: sport, destination_port: dport };
  return [{ header: "ethernet" }, ...(l4 ? [ip, ports] : [{ ...ip, protocol }])];
}

export const CLASSBENCH: Format = {
  title: "rule sets and traces of ClassBench",
  isOrdered: true,
  recognizes: (text) => {
    const line = text.split("\n", 1)[0] ?? "";
    return (
      /^@[\d.a-f:]+\/\d+\s+[\d.a-f:]+\/\d+\s+\d+\s*:\s*\d+/im.test(text.slice(0, RECOGNIZED)) ||
      parseHeader(line) !== undefined
    );
  },
  importer: (draft, findings) => new ClassBenchImport(draft, findings),
  elements: ELEMENTS,
};

const RECOGNIZED = 10_000;
