/**
 * Checks fields and encodings of header changes against test/vectors/modify-fields.json, and their
 * offsets against the RFCs.
 */
import { expect, test } from "vitest";
import { Place, PLACE_INNER } from "../../../src/abi/program.js";
import { MODIFY_ANCHORS, MODIFY_ENCODINGS } from "../../../src/model/action/modifyActions.js";
import {
  modifyFieldNames,
  modifyFields,
  modifyFieldAt,
  modifyFieldNamed,
} from "../../../src/model/action/modifyFields.js";
import { DRAWN, REGISTER_NAMES } from "../../mlx5dv/support/drawn.js";
import table from "../../vectors/modify-fields.json" with { type: "json" };

const DOMAINS: Record<string, string> = { nic_tx: "NIC_TX only", nic_rx: "NIC_RX only" };

test("every row of the table has its field, and there are no others", () => {
  const ours = modifyFields().map((field) => [
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
  expect(modifyFieldNames()).toHaveLength(table.fields.length);
  for (const field of modifyFields()) {
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

const PLACES: Readonly<Record<string, Place>> = {
  ethernet: Place.ethernet,
  ethertype: Place.ethertype,
  vlan: Place.vlan,
  ip: Place.ip,
  ipv4: Place.ipv4,
  ipv6: Place.ipv6,
  tcp: Place.tcp,
  udp: Place.udp,
  gtpu: Place.gtpu,
};

test("fields lie in the headers where these are drawn", () => {
  const names = new Set(modifyFieldNames());
  for (const [name, [level, [header, width, bit, bit6 = bit]]] of DRAWN) {
    const place = PLACES[header]! + (level === "inner" ? PLACE_INNER : 0);
    expect(modifyFieldNamed(name), name).toMatchObject({ place, width, bit, bit6 });
    names.delete(name);
  }
  expect([...names].sort()).toEqual([...REGISTER_NAMES].sort());
  for (const [n, name] of REGISTER_NAMES.entries()) {
    expect(modifyFieldNamed(name)).toMatchObject({ place: Place.register + n, width: 32, bit: 0, bit6: 0 });
  }
});
