/** Actions of datapath flows. */
import { isEncapsulation } from "../../../../model/action/reformat.js";
import { hexBytes } from "../../../../packet/bytes.js";
import type { Element } from "../../../reading/format.js";
import { numberOf } from "../../../text/numbers.js";
import { attempt, notImported } from "../../../text/refusal.js";
import { CT, FIELDS, OTHER_PARTS, TUNNEL, tunnelBits } from "./fields.js";
import { optionKey, optionsOf } from "./options.js";
import { bitsOf, fieldNamed, type OvsField } from "../../fields.js";
import { headersHex } from "./hex.js";
import { act, refusedAct, type Act, type Change, type Plain, type TunnelValues } from "../steps.js";
import type { Piece } from "../text.js";
import { maskedOf } from "../values.js";

export const DP_ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  "a number, a name": { becomes: "`vport` or `port`" },
  drop: { becomes: "`drop`" },
  ct_clear: { becomes: "nothing: no frame is tracked" },
  recirc: { becomes: "a jump to the table of the flows with this `recirc_id`" },
  "set(eth), set(ipv4), set(ipv6), set(tcp), set(udp)": { becomes: "`modify`: `set`" },
  "set(tunnel)": { becomes: "the headers that an output to a tunnel port adds" },
  "push_vlan, pop_vlan": { becomes: "`push_vlan`, `pop_vlan`" },
  clone: { becomes: "a copy: a member of an `array`" },
  tnl_push: { becomes: "`reformat` with the headers that stand there, and the port" },
  tnl_pop: { becomes: "a jump to the flows of the tunnel port, as the last action and not after tnl_push" },
  "ct, nat": { refused: CT },
  userspace: { refused: "the device does not send frames to a program of the host" },
  "sample, meter, hash, check_pkt_len, trunc, lb_output, psample": {
    refused: "the device has no equal, or the text does not say enough",
  },
  "push_mpls, pop_mpls, add_mpls, push_eth, pop_eth, push_nsh, pop_nsh, dec_ttl": {
    refused: "the device has no equal",
  },
};

export function datapathActions(list: Piece, table: string): Act[] {
  const acts = list
    .split(", \t")
    .flatMap((piece) => attempt(() => [datapathAction(piece, table)].flat().map(act), refusedAct(piece)));
  // The output after tnl_push sends what it has made; old versions have none.
  const whole = acts.flatMap((one, n) => {
    if (one.kind === "tunnel_pop" && (n < acts.length - 1 || acts.some(({ kind }) => kind === "encap")))
      return [act({ kind: "refused", text: `tnl_pop(${one.port})`, reason: POPPED, place: one.place })];
    const next = acts[n + 1];
    const before = acts[n - 1];
    if (one.kind === "encap" && next?.kind === "output") return [act({ ...plainOf(one), port: next.port })];
    return one.kind === "output" && before?.kind === "encap" ? [] : [one];
  });
  // A slice has no room to grow.
  return whole.slice();
}

function plainOf({ data, port, place }: Extract<Act, { kind: "encap" }>): Extract<Plain, { kind: "encap" }> {
  return { kind: "encap", data, port, place };
}

const REFUSED: Readonly<Record<string, string>> = {
  ct: CT,
  userspace: "the device does not send frames to a program of the host",
  sample: "samples go to a collector",
  meter: "the rates of meters are not read",
  hash: "it chooses by a hash of its own",
  check_pkt_len: "the device does not compare lengths",
  trunc: "the device does not cut frames",
  push_mpls: "the device does not add MPLS labels to a frame",
  pop_mpls: "the device does not remove MPLS labels from a frame",
  add_mpls: "the device does not add MPLS labels to a frame",
  push_eth: "the frames of the device have an Ethernet header",
  pop_eth: "the frames of the device have an Ethernet header",
  push_nsh: "the device does not add a header of NSH",
  pop_nsh: "the device does not read NSH",
  lb_output: "it chooses a port by a hash of its own",
  psample: "samples go to a collector",
  dec_ttl: "the frame is split by its TTL, with actions for those that end",
};
const POPPED = "the headers are taken off here where tnl_pop is the last action, and tnl_push does not stand before it";

function datapathAction(piece: Piece, table: string): Plain | Plain[] {
  const { text } = piece;
  if (text === "drop" || text === "ct_clear") return [];
  if (text === "pop_vlan") return { kind: "pop_vlan" };
  const [name, inside] = piece.call() ?? [text, piece];
  const refused = REFUSED[name];
  if (refused !== undefined) notImported(piece, refused);
  if (name === text) return { kind: "output", port: piece.unquoted(), place: piece.place, hairpin: true };
  if (name === "recirc") return { kind: "lookup", table: String(numberOf(inside, name, 32)), inPort: undefined };
  if (name === "clone") return { kind: "clones", lists: [datapathActions(inside, table)] };
  if (name === "push_vlan") return pushVlan(inside);
  if (name === "tnl_pop") return { kind: "tunnel_pop", port: inside.unquoted(), place: inside.place };
  if (name === "set" || name === "set_masked") return setKey(inside);
  if (name === "tnl_push") return tunnelPush(inside);
  return notImported(piece, `the datapath's action ${name} is not read`);
}

const TAG = ["vid", "pcp", "tpid", "cfi"];

function pushVlan(inside: Piece): Plain {
  const values = new Map(
    inside.split(",").map((one) => {
      const [name, value] = one.cut("=") ?? notImported(one, "a field has a value");
      if (!TAG.includes(name.text)) notImported(one, `a tag has ${TAG.join(", ")}`);
      return [name.text, value] as const;
    }),
  );
  const number = (name: string, width: number, without: number): number => {
    const value = values.get(name);
    return value === undefined ? without : numberOf(value, name, width);
  };
  const tpid = number("tpid", 16, 0x8100);
  if (tpid !== 0x8100 && tpid !== 0x88a8) notImported(inside, "tags have the types 0x8100 and 0x88a8");
  return { kind: "push_vlan", tpid, vid: number("vid", 12, 0), pcp: number("pcp", 3, 0) };
}

function setKey(inside: Piece): Plain {
  const [key, values] = inside.call() ?? notImported(inside, "a key has its value in parentheses");
  if (key === "tunnel") return { kind: "tunnel", values: tunnelValues(values) };
  const fields = FIELDS[key] ?? notImported(inside, `the device does not set ${key}`);
  const changes: Change[] = [];
  for (const piece of values.split(",")) {
    const [name, value] = piece.cut("=") ?? notImported(piece, "a field has a value");
    const target = fields[name.text] ?? notImported(piece, `there is no field ${name.text}`);
    if (target === "nw_frag" || target === "ip_proto") continue;
    const [wide, low] = target === "nw_tos_ecn" ? ["nw_tos", "nw_ecn"] : [target];
    const field = fieldNamed(wide) as OvsField;
    if (!field.writable) notImported(piece, `the device does not change ${field.name}`);
    const { value: bits, mask } = maskedOf(value, field);
    for (const ask of bitsOf(field, bits, mask)) changes.push({ kind: "set", ...ask });
    if (low !== undefined && (mask & 3n) !== 0n) {
      changes.push({ kind: "set", field: "outer.ip_ecn", value: bits & mask & 3n, mask: mask & 3n });
    }
  }
  return { kind: "change", changes };
}

function tunnelValues(inside: Piece): TunnelValues {
  const values: { -readonly [Key in keyof TunnelValues]: TunnelValues[Key] } = {};
  for (const piece of inside.split(",")) {
    const [name, value] = piece.cut("=") ?? [piece, undefined];
    const [part, of] = /^\w+\(/.test(piece.text) ? (piece.call() ?? ["", piece]) : ["", piece];
    if (part === "geneve") {
      for (const option of optionsOf(of)) values[optionKey(option)] = option.value;
      continue;
    }
    if (part !== "" && part !== "flags")
      notImported(piece, OTHER_PARTS[part] ?? `there is no part ${part} of a tunnel`);
    if (part !== "" || name.text === "flags") continue;
    if (value === undefined) notImported(piece, `there is no part ${piece.text} of a tunnel`);
    const key = TUNNEL[name.text] ?? notImported(piece, `there is no field ${name.text}`);
    values[key] = tunnelBits(key, value).value;
  }
  return values;
}

/** `tnl_push(tnl_port(6),header(size=50,type=4,eth(...),ipv4(...),udp(...),vxlan(...)),out_port(1))`. */
function tunnelPush(inside: Piece): Plain {
  let header: Piece | undefined;
  let port: Piece | undefined;
  for (const piece of inside.split(",")) {
    const [name, of] = piece.call() ?? notImported(piece, "a key has its value in parentheses");
    if (name === "header") header = of;
    else if (name === "out_port") port = of;
    else if (name !== "tnl_port") notImported(piece, "tnl_push has tnl_port, header and out_port");
  }
  if (header === undefined || port === undefined) return notImported(inside, "header and out_port are missing");
  const data = headersHex(header);
  if (!isEncapsulation(hexBytes(data) ?? new Uint8Array()))
    notImported(header, "the device puts on Ethernet, tags, and a whole IPv4 or IPv6 header after their EtherType");
  return { kind: "encap", data, port: port.unquoted(), place: inside.place };
}
