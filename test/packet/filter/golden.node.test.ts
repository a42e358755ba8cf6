/** Filters over the captures of the repository pass the frames that they pass in tshark (scripts/golden-filters.mjs). */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { CaptureDecoder, createDevice, type CapturedFrame, type ParsedHeaders } from "../../../src/index.js";
import {
  filterValues,
  holds,
  packetFilterFields,
  parseDisplayFilter,
  passes,
  type FilterLeaf,
  type FilterValue,
} from "../../../src/packet/index.js";

/** Frames of which tshark reads more than the device does (docs/parsing.md). */
const READ_FURTHER: Readonly<Record<string, string>> = {
  "802.1ad_QinQ.pcap": "a service tag is another protocol there",
  "MplsPackets.pcap#2": "an Ethernet frame behind a control word",
  "erspan-type-ii-1.pcap": "ERSPAN",
  "frag-eth-vlan-ip-tcp-syn.pcap#1": "a fragment that cuts the TCP header",
  "gre-heapoverflow-1.pcap#2": "a packet that is cut",
  "gre-pptp.pcap": "PPP in PPTP",
  "gtp.pcap": "tunnels in a tunnel, and version 0",
  "ip4-trunc.pcap": "a cut header",
  "ipv4-options.pcap": "the end of a source route is shown as the destination",
};
for (const frame of [2, 5, 6, 7, 8, 11, 12, 13, 14, 15]) {
  (READ_FURTHER as Record<string, string>)[`IcmpPackets.pcap#${frame}`] = "headers that ICMP quotes, and timestamps";
}

const root = new URL("../../../", import.meta.url);
const { captures, filters } = JSON.parse(readFileSync(new URL("test/golden/filters.json", root), "utf8")) as {
  captures: string[];
  filters: Record<string, string>;
};

interface Frame {
  /** `vxlan.pcap#3`, and the number in the golden file. */
  readonly name: string;
  readonly number: number;
  readonly frame: CapturedFrame;
  readonly parsed: ParsedHeaders;
}

let frames: Frame[];
beforeAll(async () => {
  const device = await createDevice();
  frames = captures.flatMap((capture) => {
    const file = readFileSync(new URL(`test/captures/${capture}`, root));
    return new CaptureDecoder().push(file).map((frame) => {
      const [parsed] = device.parseHeaders([frame.bytes], { linkType: frame.linkType });
      return { name: `${capture}#${frame.number}`, number: 0, frame, parsed: parsed as ParsedHeaders };
    });
  });
  frames = frames.map((frame, n) => ({ ...frame, number: n + 1 }));
});

function passesIn(filter: string, { number, frame, parsed }: Frame): boolean {
  const found = parseDisplayFilter(filter, packetFilterFields());
  if (found.fault !== null) throw new Error(found.fault.text);
  const records: Readonly<Record<string, FilterValue>> = {
    "frame.number": number,
    "frame.len": frame.wireLength,
    "frame.cap_len": frame.bytes.length,
  };
  const valuesOf = ({ field }: Pick<FilterLeaf, "field">): FilterValue[] =>
    field.places === null ? [records[field.name] ?? 0] : filterValues(field, frame.bytes, parsed);
  return holds(found.expression!, (leaf) =>
    passes(leaf, valuesOf(leaf), leaf.versus === null ? [] : valuesOf(leaf.versus.operand)),
  );
}

function isReadFurther({ name }: Frame): boolean {
  return name in READ_FURTHER || name.replace(/#\d+$/, "") in READ_FURTHER;
}

describe("tshark agrees", () => {
  it.each(Object.entries(filters))("%s", (filter, expected) => {
    const wanted = numbersIn(expected);
    const compared = frames.filter((frame) => !isReadFurther(frame));
    const found = compared.filter((frame) => passesIn(filter, frame)).map(({ name }) => name);
    expect(found).toEqual(compared.filter(({ number }) => wanted.has(number)).map(({ name }) => name));
  });

  it("leaves out no frame that it need not", () => {
    const differs = (frame: Frame): boolean =>
      Object.entries(filters).some(
        ([filter, expected]) => passesIn(filter, frame) !== numbersIn(expected).has(frame.number),
      );
    const needed = new Set(frames.filter((frame) => isReadFurther(frame) && differs(frame)).map(({ name }) => name));
    const idle = Object.keys(READ_FURTHER).filter(
      (name) => ![...needed].some((one) => `${one}#`.startsWith(`${name}#`)),
    );
    expect(idle).toEqual([]);
  });

  it("filters that nothing passes are few", () => {
    const empty = Object.values(filters).filter((ranges) => ranges === "").length;
    expect(empty).toBeLessThan(Object.keys(filters).length / 8);
  });
});

function numbersIn(ranges: string): Set<number> {
  const found = ranges.split(" ").filter(Boolean);
  return new Set(
    found.flatMap((range) => {
      const [from = 0, to = from] = range.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    }),
  );
}
