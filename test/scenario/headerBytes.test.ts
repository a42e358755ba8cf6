/** Headers of documents as bytes: what tunnels put in front, and what is said of headers that cannot be. */
import { describe, expect, it } from "vitest";
import { hexOf } from "../../src/base/hex.js";
import { inCall, SteeringError } from "../../src/errors.js";
import { headerBytes, reformatOf } from "../../src/scenario/action/headerBytes.js";
import type { ScenarioHeader, ScenarioReformat } from "../../src/scenario/index.js";

const ETHERNET = "020000000002 020000000001";
const OUTER: ScenarioHeader[] = [{ header: "ethernet" }, { header: "ipv4" }];

const tunnel = (type: ScenarioReformat["type"], ...headers: ScenarioHeader[]): string =>
  hexOf(reformatOf("reformat", { type, headers }).data ?? new Uint8Array());
const plain = (text: string): string => text.replaceAll(/\s/g, "");

describe("headers of a tunnel", () => {
  it("have no UDP checksum, and the ports of their tunnel", () => {
    const data = tunnel("l2_to_l2_tunnel", ...OUTER, { header: "udp" }, { header: "vxlan", vni: 100 });
    expect(data.slice(0, 28)).toBe(plain(`${ETHERNET} 0800`));
    expect(data.slice(68)).toBe(plain("c000 12b5 0010 0000 08000000 00006400"));
    const given = tunnel("l2_to_l2_tunnel", ...OUTER, { header: "udp", checksum: "0xbeef" }, { header: "vxlan" });
    expect(given.slice(80, 84)).toBe("beef");
  });

  it.each<[string, ScenarioReformat["type"], ScenarioHeader[], string]>([
    ["Ethernet in Geneve", "l2_to_l2_tunnel", [{ header: "udp" }, { header: "geneve", vni: 5 }], "00006558 00000500"],
    ["IPv4 in Geneve", "l2_to_l3_tunnel", [{ header: "udp" }, { header: "geneve", vni: 5 }], "00000800 00000500"],
    ["Ethernet in GRE", "l2_to_l2_tunnel", [{ header: "gre", key: 7 }], "20006558 00000007"],
    ["IPv4 in GRE", "l2_to_l3_tunnel", [{ header: "gre", key: 7 }], "20000800 00000007"],
    ["what the header says itself", "l2_to_l3_tunnel", [{ header: "gre", protocol_type: "0x86dd" }], "000086dd"],
    ["a payload", "l2_to_l2_tunnel", [{ header: "payload", bytes: "cafe" }], "cafe"],
  ])("announce %s", (_, type, headers, end) => {
    const data = tunnel(type, ...OUTER, ...headers);
    expect(data.slice(68).slice(-plain(end).length)).toBe(plain(end));
    expect(data.length).toBe(68 + plain(end).length + (headers.length - 1) * 16);
  });

  it("announce IPv4 in IPv4, and IPv4 behind what replaces a tunnel", () => {
    expect(tunnel("l2_to_l3_tunnel", ...OUTER).slice(46, 48)).toBe("04");
    expect(tunnel("l3_tunnel_to_l2", { header: "ethernet" })).toBe(plain(`${ETHERNET} 0800`));
    expect(tunnel("l3_tunnel_to_l2", { header: "ethernet" }, { header: "vlan", vid: 5 })).toBe(
      plain(`${ETHERNET} 8100 0005 0800`),
    );
    expect(tunnel("l3_tunnel_to_l2", { header: "ethernet", type: "0x86dd" })).toBe(plain(`${ETHERNET} 86dd`));
    expect(tunnel("l3_tunnel_to_l2", { header: "ethernet", bytes: "cafe" })).toBe("cafe");
  });

  it("are data where data is given, and nothing where nothing is", () => {
    expect(reformatOf("r", { type: "l2_to_l2_tunnel", data: "00:01 ff" })).toEqual({
      type: 1,
      data: Uint8Array.of(0, 1, 255),
    });
    expect(reformatOf("r", { type: "l2_tunnel_to_l2" })).toEqual({ type: 0, data: null });
    expect(() => reformatOf("r", { type: "l3_tunnel_to_l2", data: "0" })).toThrow("two digits a byte");
  });
});

describe("headers", () => {
  it("take hexadecimal text for numbers, flags and types", () => {
    const text = [
      { header: "ethernet", type: "0x0800" },
      { header: "ipv4", ttl: "0x40", flags: "0x2" },
    ];
    const numbers = [
      { header: "ethernet", type: 0x0800 },
      { header: "ipv4", ttl: 64, flags: "df" },
    ];
    expect(headerBytes("headers", text)).toEqual(headerBytes("headers", numbers));
  });

  it.each<[ScenarioHeader, string]>([
    [{ header: "ipv4", tl: 3 }, 'headers[1].tl = 3: no field has this name (EINVAL); did you mean "ttl"? '],
    [
      { header: "ipv4", ttl: 256 },
      "headers[1].ttl = 256: outside the range that the field can hold (EINVAL); 8 bits: 0 to 255",
    ],
    [
      { header: "ipv4", ttl: true },
      "headers[1].ttl: the document does not follow the scenario schema (EINVAL); it must be a number, not boolean",
    ],
    [
      { header: "tcp", options: [{ option: "msss" }] },
      'headers[1].options[0].option = "msss": not an option that the header can hold (EINVAL); ',
    ],
    [
      { header: "tcp", options: [5] },
      "headers[1].options[0]: the document does not follow the scenario schema (EINVAL); it must be an option",
    ],
    [
      { header: "icmp" },
      "headers[0].type: a value that was left out cannot be derived from the other headers (EINVAL); no number says that icmp follows ethernet: give headers[0].type, or",
    ],
  ])("are refused: %j", (header, message) => {
    const attempt = (): unknown => inCall("test", () => headerBytes("headers", [{ header: "ethernet" }, header]));
    expect(attempt).toThrow(SteeringError);
    expect(attempt).toThrow(`test: ${message}`);
  });
});
