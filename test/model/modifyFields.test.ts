/** The fields and encodings of header changes are those of the modify-fields table, and lie where the RFCs put them. */
import { expect, test } from "vitest";
import { Place, PLACE_INNER } from "../../src/abi/engine.js";
import { MODIFY_ANCHORS, MODIFY_ENCODINGS } from "../../src/model/modifyActions.js";
import { MODIFY_FIELD_NAMES, MODIFY_FIELDS, modifyFieldAt, modifyFieldNamed } from "../../src/model/modifyFields.js";
import table from "../vectors/modify-fields.json" with { type: "json" };

const DOMAINS: Record<string, string> = { nic_tx: "NIC_TX only", nic_rx: "NIC_RX only" };

test("every row of the table has its field, and there are no others", () => {
  const ours = MODIFY_FIELDS.map((field) => [
    field.id,
    field.name,
    field.width,
    field.l3Type,
    field.l4Type,
    field.addAllowed,
    field.domain === null ? "any" : DOMAINS[field.domain],
    field.swSteering,
  ]);
  const byId = (a: unknown[], b: unknown[]): number => Number(a[0]) - Number(b[0]);
  expect(ours.sort(byId)).toEqual([...table.fields].sort(byId));
  expect(MODIFY_FIELD_NAMES).toHaveLength(table.fields.length);
  for (const field of MODIFY_FIELDS) {
    expect(modifyFieldAt(field.id)).toBe(field);
    expect(modifyFieldNamed(field.name)).toBe(field);
  }
});

test("every encoding of the table", () => {
  const ours = new Map(
    [...MODIFY_ENCODINGS].map(([number, [name, parts]]) => [
      name.toUpperCase(),
      [number, parts.map(([, bit, bits]) => [bit, bits])],
    ]),
  );
  for (const [name, number] of Object.entries(table.types)) {
    const [type, ...parts] = table.encodings[name as keyof typeof table.encodings] as [string, number, number][];
    expect(type).toEqual(["action_type", 0, 4]);
    expect(ours.get(name)).toEqual([number, parts.map(([, bit, bits]) => [bit, bits])]);
  }
  expect(ours.size).toBe(Object.keys(table.types).length);
  expect(MODIFY_ANCHORS).toEqual(table.anchors);
});

/** First bits in the headers as drawn in IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 768 and 3GPP TS 29.281. */
const DRAWN: Record<string, readonly [Place, number, number?]> = {
  DMAC_47_16: [Place.ethernet, 0],
  DMAC_15_0: [Place.ethernet, 8 * 4],
  SMAC_47_16: [Place.ethernet, 8 * 6],
  SMAC_15_0: [Place.ethernet, 8 * 10],
  ETHERTYPE: [Place.ethertype, 0],
  FIRST_VID: [Place.vlan, 0],
  IP_DSCP: [Place.ip, 8, 4],
  IP_ECN: [Place.ip, 8 + 6, 4 + 6],
  IP_TTL: [Place.ipv4, 8 * 8],
  SIPV4: [Place.ipv4, 8 * 12],
  DIPV4: [Place.ipv4, 8 * 16],
  IPV6_HOPLIMIT: [Place.ipv6, 8 * 7],
  SIPV6_127_96: [Place.ipv6, 8 * 8],
  SIPV6_95_64: [Place.ipv6, 8 * 12],
  SIPV6_63_32: [Place.ipv6, 8 * 16],
  SIPV6_31_0: [Place.ipv6, 8 * 20],
  DIPV6_127_96: [Place.ipv6, 8 * 24],
  DIPV6_95_64: [Place.ipv6, 8 * 28],
  DIPV6_63_32: [Place.ipv6, 8 * 32],
  DIPV6_31_0: [Place.ipv6, 8 * 36],
  TCP_SPORT: [Place.tcp, 0],
  TCP_DPORT: [Place.tcp, 8 * 2],
  TCP_SEQ_NUM: [Place.tcp, 8 * 4],
  TCP_ACK_NUM: [Place.tcp, 8 * 8],
  TCP_FLAGS: [Place.tcp, 8 * 12 + 7],
  UDP_SPORT: [Place.udp, 0],
  UDP_DPORT: [Place.udp, 8 * 2],
};

test("fields lie in the headers where these are drawn", () => {
  for (const { name, place, bit, bit6 } of MODIFY_FIELDS) {
    const [level, rest] = [name.slice(0, name.indexOf("_")), name.slice(name.indexOf("_") + 1)];
    const drawn = DRAWN[rest];
    if (level === "METADATA") {
      const n = [
        "REG_C_0",
        "REG_C_1",
        "REG_C_2",
        "REG_C_3",
        "REG_C_4",
        "REG_C_5",
        "REG_C_6",
        "REG_C_7",
        "REG_A",
        "REG_B",
      ];
      expect([place, bit, bit6], name).toEqual([Place.register + n.indexOf(rest), 0, 0]);
    } else if (level === "GTPU") {
      expect([place, bit, bit6], name).toEqual([Place.gtpu, 8 * 4, 8 * 4]);
    } else {
      expect(drawn, name).toBeDefined();
      const [where, first, first6 = first] = drawn!;
      expect([place, bit, bit6], name).toEqual([where + (level === "IN" ? PLACE_INNER : 0), first, first6]);
    }
  }
});
