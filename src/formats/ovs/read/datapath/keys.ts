/** Datapath flows: what `ovs-appctl dpctl/dump-flows` and `ovs-dpctl dump-flows` print. */
import { ones } from "../../../../base/bits.js";
import { namesHint } from "../../../../base/nearest.js";
import type { Element } from "../../../reading/format.js";
import { datapathActions } from "./actions.js";
import { CT, FIELDS, OTHER_PARTS, TUNNEL, tunnelBits } from "./fields.js";
import { optionKey, optionsOf } from "./options.js";
import { bitsOf, fieldNamed, whyRefused, type OvsField } from "../../fields.js";
import { OpenMatch, UNTAGGED } from "../openMatch.js";
import { numberOf } from "../../../text/numbers.js";
import { notImported } from "../../../text/refusal.js";
import { type Flow, type FlowMatch } from "../steps.js";
import type { Piece } from "../text.js";
import { maskedOf } from "../values.js";

/** What a frame of the datapath is, besides its bytes: zero, or not imported. */
const ZERO = ["skb_priority", "skb_mark", "ct_state", "ct_zone", "ct_mark", "ct_label", "dp_hash", "packet_type"];
export const KEY_ELEMENTS: Readonly<Record<string, Element>> = {
  recirc_id: { becomes: "the table: frames reach `recirc_id(0)` first" },
  in_port: { becomes: "`misc.source_port` and the port" },
  "eth, eth_type": { becomes: "`outer.smac`, `outer.dmac`, `outer.ethertype`; without `vlan` the frame has no tag" },
  "vlan, encap": { becomes: "`outer.first_vid`, `outer.first_prio`; what follows the tag" },
  ...Object.fromEntries(
    Object.entries(FIELDS)
      .filter(([key]) => key !== "eth")
      .map(([key, fields]) => [
        `${key}: ${Object.keys(fields).join(", ")}`,
        { becomes: "the match fields of the same headers" },
      ]),
  ),
  tcp_flags: { becomes: "`outer.tcp_flags`" },
  tunnel: { becomes: "the headers of the tunnel port that the frame came by" },
  [ZERO.join(", ")]: { becomes: "nothing, where they ask for 0 or for nothing; else refused" },
  "mpls: lse0": { becomes: "the same fields of the first entry; other entries are refused" },
  "tunnel: geneve": { becomes: "`misc3.geneve_tlv_option_0_data`: one option, of four bytes" },
  "tunnel: vxlan, erspan, gtpu": { refused: "the device does not match them" },
  "nd, nsh, ct_tuple4, ct_tuple6": { refused: "the device does not match them, or not as the datapath does" },
};

/** An entry of a stack of labels: lowest bit and width of each field. */
const ENTRY = [
  ["mpls_label", 12, 20],
  ["mpls_tc", 9, 3],
  ["mpls_bos", 8, 1],
  ["mpls_ttl", 0, 8],
] as const;

/** Whether all values of a key are masked out. */
const asksNothing = (text: string): boolean =>
  text.split(",").every((one) => one === "" || /\/0(?:x0*)?\)*$/.test(one.trim()));

/** What a dump says of a flow besides its keys: its identity, and what it has counted. */
const COUNTED =
  /^(?:(?:(?:mega_)?ufid|flags|dp|dp-extra-info|cache):|(?:packets|bytes|n_packets|n_bytes|eviction|priority|score):-?\d+$|used:(?:[\d.]+s?|never)$|offloaded:(?:yes|no|partial)$|[\d.]+s$|never$)/;

/** @throws NotImported */
export function readDatapathFlow(text: Piece, file: string): Flow {
  const [keys, actions] = text.cut("actions:") ?? notImported(text, "the actions are missing");
  checkWhole(keys);
  return datapathFlow(text, file, keys, actions);
}

/** @throws NotImported a parenthesis closes none, or is not closed */
function checkWhole(keys: Piece): void {
  const open: number[] = [];
  for (const { 0: mark, index } of keys.text.matchAll(/[()]/g)) {
    if (mark === "(") open.push(index);
    else if (open.pop() === undefined) {
      const from = Math.max(keys.text.lastIndexOf(",", index), keys.text.lastIndexOf(" ", index)) + 1;
      isCut(keys.part(from, index + 1));
    }
  }
  const last = open.pop();
  if (last !== undefined) isCut(keys.part(last));
}

function isCut(piece: Piece): never {
  return notImported(piece, `the line is cut at "${piece.text.slice(0, 20)}": write the output to a file`);
}

/** The keys and the actions, as `dpctl/add-flow` has them. @throws NotImported */
export function datapathFlow(text: Piece, file: string, before: Piece, after: Piece): Flow {
  const reader = new Keys();
  const named: string[] = [];
  for (const piece of before.split(", \t")) {
    if (COUNTED.test(piece.text)) continue;
    reader.add(piece);
    named.push(piece.text);
  }
  const { match, table } = reader.done();
  const name = named.filter((one) => !/\(0(?:\/0)?\)$/.test(one)).join(",") || `recirc_id(${table})`;
  const shown = name.length > 120 ? `${name.slice(0, 120)}...` : name;
  return {
    name,
    place: text.place,
    text: shown,
    table,
    priority: 65535,
    match,
    acts: datapathActions(after, table),
    origin: { file, ...text.place, text: text.text },
    identity: `${table} ${named.join()}`,
  };
}

class Keys extends OpenMatch {
  #table = "0";
  #hasTag = false;
  #hasType = false;
  #isIpv6 = false;

  done(): { match: FlowMatch; table: string } {
    if (this.#hasType && !this.#hasTag) this.asks.push(...UNTAGGED);
    return { match: this.match(), table: this.#table };
  }

  add(piece: Piece): void {
    const [key, inside] = piece.call() ?? notImported(piece, "a key has its value in parentheses");
    if (key === "recirc_id") this.#table = String(numberOf(inside, key, 32));
    else if (key === "in_port") this.inPort = inside.unquoted();
    else if (key === "eth_type") this.#type(inside);
    else if (key === "vlan") this.#vlan(inside);
    else if (key === "encap") for (const one of inside.split(",")) this.add(one);
    else if (key === "tcp_flags") this.#field("tcp_flags", inside);
    else if (key === "tunnel") this.#tunnelKey(inside);
    else if (key === "mpls") this.#mpls(inside);
    else if (ZERO.includes(key)) this.#zero(key, inside);
    else {
      const fields = FIELDS[key] ?? notImported(piece, `the datapath's key ${key} is not read`);
      for (const one of inside.split(",")) this.#part(fields, one);
    }
  }

  #part(fields: Readonly<Record<string, string>>, piece: Piece): void {
    const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
    const field =
      fields[name.text] ??
      notImported(piece, `there is no field ${name.text}; ${namesHint(name.text, "fields", Object.keys(fields))}`);
    if (field === "nw_frag") {
      if (!this.fragment(value.text, this.#isIpv6)) notImported(value, "fragments are no, first or later");
    } else if (field === "nw_tos_ecn") {
      this.#field("nw_tos", value);
      this.#low("outer.ip_ecn", 2, value);
    } else this.#field(field, value);
  }

  #field(name: string, value: Piece): void {
    const field = fieldNamed(name) ?? notImported(value, whyRefused(name) ?? `there is no field ${name}`);
    const { value: bits, mask } = maskedOf(value, field);
    this.asks.push(...bitsOf(field, bits, mask));
  }

  /** The lowest bits of a byte. */
  #low(field: string, width: number, value: Piece): void {
    const { value: bits, mask } = maskedOf(value, { name: field, kind: "number", width: 8 });
    const low = ones(width);
    if ((mask & low) !== 0n) this.asks.push({ field, value: bits & low, mask: mask & low });
  }

  #type(value: Piece): void {
    this.#hasType = true;
    const { value: type, mask } = maskedOf(value, { name: "eth_type", kind: "number", width: 16 });
    if (type === 0x8100n || type === 0x88a8n) {
      this.#hasTag = true;
      this.asks.push({ field: type === 0x8100n ? "outer.cvlan_tag" : "outer.svlan_tag", value: 1n, mask: 1n });
      return;
    }
    this.#isIpv6 = type === 0x86ddn;
    if (mask !== 0n) this.asks.push({ field: "outer.ethertype", value: type, mask });
  }

  #vlan(inside: Piece): void {
    this.#hasTag = true;
    for (const piece of inside.split(",")) {
      const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
      if (name.text === "vid") this.#ask("outer.first_vid", 12, value);
      else if (name.text === "pcp") this.#ask("outer.first_prio", 3, value);
      else if (name.text === "cfi") continue;
      else notImported(piece, "tags have vid and pcp");
    }
  }

  #ask(field: string, width: number, value: Piece): void {
    const { value: bits, mask } = maskedOf(value, { name: field, kind: "number", width });
    if (mask !== 0n) this.asks.push({ field, value: bits, mask });
  }

  #tunnelKey(inside: Piece): void {
    for (const piece of inside.split(",")) {
      const [part, of] = /^\w+\(/.test(piece.text) ? (piece.call() ?? ["", piece]) : ["", piece];
      if (part === "geneve") {
        for (const option of optionsOf(of)) this.tunnel[optionKey(option)] = option;
        continue;
      }
      if (OTHER_PARTS[part] !== undefined && !asksNothing(of.text)) notImported(piece, OTHER_PARTS[part]);
      const [name, value] = piece.cut("=") ?? [piece, undefined];
      // Flags say that there is a key, and whether there is a checksum.
      if (/^flags/.test(name.text) || OTHER_PARTS[part] !== undefined) continue;
      if (part !== "" || value === undefined) notImported(piece, `there is no part ${piece.text} of a tunnel`);
      const key =
        TUNNEL[name.text] ??
        notImported(piece, `there is no field ${name.text}; ${namesHint(name.text, "fields", Object.keys(TUNNEL))}`);
      const bits = tunnelBits(key, value);
      if (bits.mask !== 0n) this.tunnel[key] = bits;
    }
  }

  /** A stack of labels: the first entry is matched. */
  #mpls(inside: Piece): void {
    for (const piece of inside.split(",")) {
      const [, number] = /^lse(\d+)=/.exec(piece.text) ?? [];
      const value = piece.cut("=")?.[1];
      if (number === undefined || value === undefined) {
        this.#part(FIELDS["mpls"] as Readonly<Record<string, string>>, piece);
        continue;
      }
      const { value: bits, mask } = maskedOf(value, { name: "an entry of a stack", kind: "number", width: 32 });
      if (mask === 0n) continue;
      if (number !== "0") notImported(piece, "the device matches the first entry of a stack of labels");
      for (const [name, low, width] of ENTRY) {
        const part = (mask >> BigInt(low)) & ones(width);
        if (part !== 0n) this.asks.push(...bitsOf(fieldNamed(name) as OvsField, (bits >> BigInt(low)) & part, part));
      }
    }
  }

  /** Numbers that frames of the device do not have. */
  #zero(key: string, inside: Piece): void {
    const [value = "", mask] = inside.text.split("/");
    const asksNothing = mask !== undefined && /^0(x0*)?$/.test(mask);
    if (asksNothing || /^0(x0*)?$/.test(value) || key === "packet_type" || /^(-\w+)+$/.test(inside.text)) return;
    notImported(inside, key.startsWith("ct_") ? CT : "a number of the host, which frames on the device do not have");
  }
}
