/** Hints that a frame has a tunnel at another port need bytes that look like it: innocent frames get none. */
import { describe, expect, test } from "vitest";
import { mistakeIn } from "../../../src/explain/repair/mistake.js";
import { looksLike } from "../../../src/explain/repair/mistakes/evidence.js";
import { repairsFor } from "../../../src/explain/repair/repairs.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { unhex } from "../../../src/base/hex.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";
import { CaseDevice } from "./support/case.js";

const KINDS = ["vxlan", "vxlan_gpe", "geneve", "gtpu", "mpls", "bth"] as const;
type Kind = (typeof KINDS)[number];

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const inner: Layer[] = [ethernet, ipv4, { header: "tcp" }, new Uint8Array(40)];
const over = (port: number, ...layers: Layer[]): Uint8Array =>
  buildFrame([ethernet, ipv4, { header: "udp", source_port: 49152, destination_port: port }, ...layers]);

/** What each header carries, at a port of nothing. */
const TUNNELS: Readonly<Record<Kind, readonly Layer[]>> = {
  vxlan: [{ header: "vxlan", vni: 5001 }, ...inner],
  vxlan_gpe: [{ header: "vxlan_gpe", vni: 5001, next_protocol: 1 }, ...inner.slice(1)],
  geneve: [{ header: "geneve", vni: 5001, protocol_type: 0x6558 }, ...inner],
  gtpu: [{ header: "gtpu", teid: 7 }, ...inner.slice(1)],
  mpls: [{ header: "mpls", label: 16, s_bos: 1 }, ...inner.slice(1)],
  bth: [{ header: "bth", opcode: 4, dst_qp: 2 }, new Uint8Array(20)],
};

/** A field of each, and fields of what is inside. */
const FIELDS: Readonly<Record<Kind, MatchFields>> = {
  vxlan: { "misc.vxlan_vni": 5001 },
  vxlan_gpe: { "misc3.outer_vxlan_gpe_vni": 5001 },
  geneve: { "misc.geneve_vni": 5001 },
  gtpu: { "misc3.gtpu_teid": 7 },
  mpls: { "misc2.outer_first_mpls_over_udp_label": 16 },
  bth: { "misc.bth_dst_qp": 2 },
};

const hex = (text: string): Uint8Array => unhex(text.replaceAll(" ", ""));

/** Datagrams that are what their ports say. Written by hand from RFC 1035, 5905, 9000 and 3261. */
const INNOCENT: readonly (readonly [name: string, port: number, bytes: Uint8Array])[] = [
  ["DNS query", 53, hex("a1b2 0100 0001 0000 0000 0000 07 6578616d706c65 03 636f6d 00 0001 0001")],
  ["DNS query, identification 0x0800", 53, hex("0800 0000 0001 0000 0000 0000 03 777777 00 0001 0001")],
  ["NTP client", 123, hex(`23 00 06 ec ${"00".repeat(36)} e8f3a1b2 c3d4e5f6`)],
  ["QUIC initial", 443, hex(`c3 00000001 08 8394c8f03e515708 00 00 449e 00000002 ${"5a".repeat(1100)}`)],
  ["QUIC short header", 443, hex(`40 8394c8f03e515708 ${"5a".repeat(60)}`)],
  [
    "SIP",
    5060,
    new TextEncoder().encode("OPTIONS sip:bob@example.com SIP/2.0\r\nVia: SIP/2.0/UDP pc33.example.com\r\n"),
  ],
  ["zeros", 9, new Uint8Array(64)],
  ["nothing", 9, new Uint8Array()],
];

const at = await CaseDevice.open();

function mistakeOf(frame: Uint8Array, match: MatchFields): string | undefined {
  at.set([{ name: "rule", match }]);
  return mistakeIn(at.context(frame))?.name;
}

describe.each(KINDS)("%s", (kind) => {
  test("at another port is known by its bytes", () => {
    const frame = over(40000, ...TUNNELS[kind]);
    expect(looksLike(kind, frame.subarray(42))).toBe(true);
    expect(mistakeOf(frame, FIELDS[kind])).toBe("tunnel-on-other-port");
    for (const other of KINDS) if (other !== kind) expect(looksLike(other, frame.subarray(42)), other).toBe(false);
  });

  test.each(INNOCENT)("is not seen in %s", (_, port, bytes) => {
    expect(looksLike(kind, bytes)).toBe(false);
    expect(mistakeOf(over(port, bytes), FIELDS[kind])).not.toBe("tunnel-on-other-port");
    expect(mistakeOf(over(port, bytes), { "inner.ipv4_dst": "10.0.0.7" })).not.toBe("tunnel-on-other-port");
  });

  test("is not seen in random bytes", () => {
    const random = new Random(seedFor(`evidence of ${kind}`));
    const bytes = Array.from({ length: rounds(20_000) }, () => Uint8Array.from(random.bytes(random.between(0, 200))));
    expect(bytes.filter((one) => looksLike(kind, one))).toEqual([]);
  });
});

describe("VXLAN at a port that is not registered", () => {
  const frame = over(8472, ...TUNNELS.vxlan);

  test.each<MatchFields>([{ "misc.vxlan_vni": 5001 }, { "inner.tcp_dport": 9 }])(
    "is registered first, then sent to another port: %j",
    (match) => {
      at.set([{ name: "rule", match }]);
      const context = at.context(frame);
      const [first, second] = repairsFor(context);
      expect(first).toEqual({
        of: "device",
        sentence: "Register UDP port 8472 in device.parser.vxlanPorts.",
        frame: null,
        bytes: [],
        rule: null,
        fields: [{ field: "device.parser.vxlanPorts", before: "[4789]", after: "[4789, 8472]" }],
        standing: null,
        others: null,
        witness: null,
      });
      expect(second).toMatchObject({ of: "frame" });
      expect(second?.sentence).toContain("outer.udp_dport 4789 instead of 8472");
      // The trial left the parser as it was.
      expect(context.trial.frame(frame)).toBe(false);
    },
  );

  test("is not registered where this does not help, or where the device has no room", async () => {
    at.set([{ name: "rule", match: { "misc.vxlan_vni": 5002 } }]);
    expect(repairsFor(at.context(frame)).map(({ of }) => of)).not.toContain("device");
    const full = await CaseDevice.open({ parser: { vxlanPorts: [1, 2, 3, 4] } });
    full.set([{ name: "rule", match: { "misc.vxlan_vni": 5001 } }]);
    const context = full.context(frame);
    expect(repairsFor(context).map(({ of }) => of)).not.toContain("device");
    expect(mistakeIn(context)?.sentence).toContain("a device has 4 VXLAN ports at most");
  });

  test("of GTP-U cannot be", () => {
    at.set([{ name: "rule", match: { "misc.vxlan_vni": 5001 } }]);
    const context = at.context(over(2152, ...TUNNELS.vxlan));
    expect(mistakeIn(context)?.sentence).toContain("Port 2152 cannot be registered: port 2152 is that of GTP-U.");
    expect(repairsFor(context).map(({ of }) => of)).not.toContain("device");
  });
});
