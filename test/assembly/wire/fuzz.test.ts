/**
 * No bytes make the parser trap or read beside the frame: generated frames and broken ones made from them.
 *
 *     FLOWSTEER_FUZZ=1000000      so many frames in all (with fuzz.node.test.ts), 50,000 by default
 *     FLOWSTEER_SEED=7            the run of this seed again
 *     FLOWSTEER_FRAME=1,60,1,ff…  link type, wire length, port, bytes: one frame alone
 */
import { describe, expect, test } from "vitest";
import { NEEDS_ALL } from "../../../src/abi/key.js";
import { Random } from "../../oracle/generate/frame.js";
import {
  type Build,
  BUILDS,
  type Declaration,
  DECLARATIONS,
  FRAMES,
  fuzz,
  generated,
  openProbe,
  reproduceBy,
} from "./support/run.js";
import { seedFor, type TestFrame } from "../support/core.js";
import { setting } from "../../support/tier.js";

/** An IPv6 packet of length 0, raw, with a hop-by-hop header that holds a jumbo payload option, and nothing behind. */
function jumbo(length: string, wireLength: number): string {
  return `229,${wireLength},1,6${"0".repeat(79)}1100c204${length}`;
}

/** A raw IPv4 packet, whole. */
function ipv4Packet(protocol: string, payload: string): string {
  return `228,${20 + payload.length / 2},1,${ipv4Header(protocol, payload)}${payload}`;
}

function ipv4Header(protocol: string, payload: string): string {
  const length = 20 + payload.length / 2;
  return `4500${length.toString(16).padStart(4, "0")}0000000040${protocol}00000a0000010a000002`;
}

/** IPv4 in IPv4. */
function innerPacket(protocol: string, payload: string): string {
  return ipv4Packet("04", ipv4Header(protocol, payload) + payload);
}

function grePacket(fixed: string, rest: string): string {
  return ipv4Packet("2f", fixed + rest);
}

function udpPacket(port: string, payload: string): string {
  const length = (8 + payload.length / 2).toString(16).padStart(4, "0");
  return ipv4Packet("11", `c000${port}${length}0000${payload}`);
}

/** The frame without its last bytes, which the wire had. */
function cutBy(bytes: number, frame: string): string {
  return frame.slice(0, -2 * bytes);
}

/** TCP with 8 bytes of options. */
const TCP_OPTIONS = `c000005000000001000000027010ffff000000000101080a00000000`;

/** Frames that made the parser read on where there was nothing, and those at a bound. */
const EDGES: Readonly<Record<string, string>> = {
  "a jumbo length that ends within its own option header (RFC 2675: above 65,535)": jumbo("00000000", 48),
  "a jumbo length whose end is no address": jumbo("ffffff00", 0xffffffff),
  "more headers than the map lists": `1,400,1,${"00".repeat(12)}${"81000000".repeat(60)}0800`,
  "a label stack without a bottom": `1,400,1,${"00".repeat(12)}8847${"000100ff".repeat(60)}`,
  "a source route of GRE without an end": grePacket("40000800", `00000000${"00020400".repeat(40)}`),
  "a source route of GRE whose last entry is cut": grePacket("40000800", "00000000" + "00010004" + "0000"),
  "a source route of GRE without an end, inside a tunnel": innerPacket(
    "2f",
    `4000884700000000${"00020400".repeat(40)}`,
  ),
  "GRE inside a tunnel, cut": innerPacket("2f", "000088"),
  "a label over GRE inside a tunnel, cut": innerPacket("2f", "00008847000101"),
  "a label over UDP inside a tunnel, cut": innerPacket("11", "c00019eb00080000000101"),
  "a Geneve option as long as can be, beyond the others": udpPacket("17c1", "02006558000001000102811f00000000"),
  "GTP-U extension headers, more than the map lists": udpPacket(
    "0868",
    `34ff00000000000000000085${"01000085".repeat(60)}`,
  ),
  "a GTP-U extension header of 1020 bytes": udpPacket("0868", "34ff00000000000000000085ff000000"),
  "an ESP header that may be a keep-alive": udpPacket("1194", "ff"),
  "a keep-alive from port 4500": ipv4Packet("11", "1194c00000090000ff"),
  "TCP options that the capture cuts": cutBy(3, ipv4Packet("06", TCP_OPTIONS)),
  "TCP options of which no byte was captured": cutBy(8, ipv4Packet("06", TCP_OPTIONS)),
  "TCP options that the capture cuts, inside a tunnel": cutBy(8, innerPacket("06", TCP_OPTIONS)),
  "the key of GRE, cut by the packet": grePacket("20000800", "000000"),
  "the key of GRE, cut by the capture": cutBy(1, grePacket("20010800", "00000001")),
  "all of the third dword of GTP-U, cut": udpPacket("0868", "34ff000000000000"),
  "a part of the third dword of GTP-U, cut": udpPacket("0868", "34ff000000000000000000"),
  "GRE version 1 with an acknowledgement that carries a packet": grePacket(
    "20810800",
    `00000001${ipv4Header("3b", "")}`,
  ),
};

const given = setting("FLOWSTEER_FRAME");

function frameOf(text: string): TestFrame {
  const [linkType, wireLength, port, hex = ""] = text.split(",");
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  return { linkType: Number(linkType), wireLength: Number(wireLength), port: Number(port), bytes };
}

describe.each(Object.keys(BUILDS) as Build[])("%s core", (build) => {
  test.runIf(given !== undefined)("the frame of FLOWSTEER_FRAME", async () => {
    for (const declaration of Object.keys(DECLARATIONS) as Declaration[]) {
      const probe = await openProbe(build, declaration, "this frame");
      for (let wanted = 0; wanted <= NEEDS_ALL; wanted++) probe.check(frameOf(given ?? ""), wanted);
    }
  });

  test.each(Object.entries(EDGES))("%s", async (_name, text) => {
    for (const declaration of Object.keys(DECLARATIONS) as Declaration[]) {
      const probe = await openProbe(build, declaration, "the list in fuzz.test.ts");
      probe.check(frameOf(text), NEEDS_ALL);
    }
  });

  test("generated frames, whole and broken", async () => {
    const seed = seedFor(`fuzz, ${build}`);
    const random = new Random(seed);
    const probe = await openProbe(build, "everything", reproduceBy(seed, "fuzz.test.ts"));
    expect(fuzz(probe, generated(random), FRAMES, random)).toBeGreaterThanOrEqual(FRAMES);
  });
});
