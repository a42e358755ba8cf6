/** Items that are no headers: ports, registers and checks. */
import { ones } from "../../../base/bits.js";
import { type ItemKind } from "./kind.js";

const PORT_BECOMES = "`misc.source_port`";

export const METADATA_ITEMS: Readonly<Record<string, ItemKind>> = {
  void: { fields: {}, layer: "meta", becomes: "nothing" },
  any: {
    fields: { num: { bits: 32, special: "any", becomes: "nothing if it is 0; other numbers are refused" } },
    layer: "meta",
    becomes: "nothing: any headers are there",
  },
  port_id: {
    fields: { id: { bits: 32, preset: ones(32), special: "port", becomes: PORT_BECOMES } },
    layer: "meta",
    becomes: "frames from the wire (port 0) or from a VF",
  },
  represented_port: {
    fields: { ethdev_port_id: { bits: 16, preset: ones(16), special: "port", becomes: PORT_BECOMES } },
    layer: "meta",
    becomes: "as port_id; without a port, that of the rule",
  },
  port_representor: {
    fields: { port_id: { bits: 16, preset: ones(16), special: "port", becomes: `${PORT_BECOMES}: the PF` } },
    layer: "meta",
    becomes: "frames of the application: those of the PF",
  },
  tag: {
    fields: {
      data: { bits: 32, preset: ones(32), special: "tag", becomes: "`misc2.metadata_reg_c_2` and on, by the index" },
      index: { bits: 8, preset: ones(8), special: "with", becomes: "0 is register C2, 5 is C7" },
    },
    layer: "meta",
    becomes: "a register",
  },
  meta: {
    fields: { data: { bits: 32, preset: ones(32), special: "meta", becomes: "register A of egress rules, else C1" } },
    layer: "meta",
    becomes: "a register",
  },
  meter: {
    fields: {
      color: {
        bits: 8,
        kind: "color",
        preset: ones(8),
        special: "colour",
        becomes: "register C5, where meters put it",
      },
    },
    layer: "meta",
    becomes: "the colour of a meter before; red where no meter was",
  },
  conntrack: {
    fields: {
      flags: { bits: 32, preset: ones(32), special: "connection", becomes: "register C5, where connections put it" },
    },
    layer: "meta",
    nameless: "flags",
    becomes: "the verdict of a connection before",
  },
  integrity: {
    fields: {
      level: { bits: 32, special: "with", becomes: "0 and 1 outer, 2 inner" },
      value: { bits: 64, special: "integrity", becomes: "`l3_ok`, `l4_ok`, `ipv4_checksum_ok`, `l4_checksum_ok`" },
    },
    layer: "meta",
    becomes: "the results of checks",
  },
};

/** The bits of `integrity value`. */
export const INTEGRITY: Readonly<Record<number, string>> = {
  2: "l3_ok",
  3: "l4_ok",
  5: "ipv4_checksum_ok",
  6: "l4_checksum_ok",
};

/** The tag of an index is in the register C with this much more. */
export const FIRST_TAG = 2;
export const LAST_TAG = 7;

export function registerOfMeta(domain: "nic_rx" | "nic_tx" | "fdb"): string {
  return domain === "nic_tx" ? "misc2.metadata_reg_a" : "misc2.metadata_reg_c_1";
}
