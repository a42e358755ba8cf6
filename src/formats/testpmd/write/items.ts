/** Fields of items that are bits of one match field, as patterns are written. */
import { ITEMS } from "../fields/items.js";

export interface WrittenField {
  /** `{}` is outer or inner. */
  readonly match: string;
  readonly bits: number;
  /** The lowest bit of the match field, where the item has a part of it. */
  readonly from: number;
}

/** Items that stand for several headers. */
const PLACES: Readonly<Record<string, readonly [item: string, name: string, match: string]>> = {
  "second vlan": ["vlan", "{}.first", "misc.{}_second"],
  mpls: ["mpls", "MPLS", "misc2.{}_first_mpls"],
  "mpls over udp": ["mpls", "MPLS", "misc2.{}_first_mpls_over_udp"],
  "mpls over gre": ["mpls", "MPLS", "misc2.{}_first_mpls_over_gre"],
};

function fieldsOf(item: string, name = "", match = ""): Readonly<Record<string, WrittenField>> {
  const fields = Object.entries(ITEMS[item]?.fields ?? {});
  return Object.fromEntries(
    fields.flatMap(([word, { to = [], bits, readOnly }]) => {
      const [piece, ...others] = to;
      if (piece === undefined || others.length > 0 || readOnly === true) return [];
      return [[word, { match: piece.to.replace(name, match), bits, from: piece.into ?? 0 }]];
    }),
  );
}

export const WRITTEN_ITEMS: Readonly<Record<string, Readonly<Record<string, WrittenField>>>> = {
  ...Object.fromEntries(Object.keys(ITEMS).map((item) => [item, fieldsOf(item)])),
  ...Object.fromEntries(Object.entries(PLACES).map(([item, place]) => [item, fieldsOf(...place)])),
};
