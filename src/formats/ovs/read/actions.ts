/** The actions of OpenFlow flows. */
import { namesHint } from "../../../base/nearest.js";
import type { Element } from "../../reading/format.js";
import { bigOf, numberOf } from "../../text/numbers.js";
import { attempt, notImported, type Word } from "../../text/refusal.js";
import { checkHeader, load, MODIFIERS, move, setField } from "./changes.js";
import type { Around } from "./match.js";
import { connection, untracked } from "./connection.js";
import { IP } from "../fields.js";
import { act, refusedAct, type Act, type Plain } from "./steps.js";
import type { Piece } from "./text.js";
import { portWord, RESERVED } from "./words.js";

type Reader = (of: Piece, around: Around, word: Piece) => Plain;

const noOperand =
  (plain: Plain): Reader =>
  (of, _, word) =>
    of.text === "" ? plain : notImported(word, `${word.text} has more than its name`);
const output: Reader = (of) => outputTo(of);
const dropTag = noOperand({ kind: "pop_vlan" });
const tunnelId: Reader = (of) => ({ kind: "tunnel", values: { id: bigOf(of, "tun_id", 64) } });
const NOTHING: Plain = { kind: "change", changes: [] };
/** Read as a list, before the readers are asked. */
const NOTHING_OF_ITS_OWN: Reader = () => NOTHING;

/** What is read: its reader, and what happens to it. */
const READERS: Readonly<Record<string, readonly [Reader, string]>> = {
  output: [output, "`vport`, `port`, or with other outputs an `array`; to a tunnel port with `reformat`"],
  drop: [noOperand(NOTHING), "`drop`"],
  in_port: [(_, __, word) => ({ kind: "in_port", place: word.place }), "the vport that the frame came from"],
  resubmit: [resubmit, "a jump to the table; the actions after it get a table of their own"],
  goto_table: [gotoTable, "a jump to the table"],
  set_field: [setField, "`modify`: `set`"],
  load: [load, "`modify`: `set`"],
  move: [move, "`modify`: `copy`"],
  ...Object.fromEntries(Object.entries(MODIFIERS).map(([name, read]) => [name, [read, "`modify`: `set`"] as const])),
  dec_ttl: [
    // In parentheses are controllers that are told of frames which end.
    (_, { kind: { type } }) => ({ kind: "dec_ttl", type }),
    "`modify`: `add` -1; frames with a TTL of 0 or 1 end, as rules of a table of its own",
  ],
  push_vlan: [pushVlan, "`push_vlan`"],
  pop_vlan: [dropTag, "`pop_vlan`"],
  strip_vlan: [dropTag, "`pop_vlan`"],
  mod_vlan_vid: [modVid, "`modify` of frames with a tag, `push_vlan` for others"],
  set_vlan_vid: [modVid, "`modify` of frames with a tag, `push_vlan` for others"],
  mod_vlan_pcp: [modPcp, "`modify` of frames with a tag, `push_vlan` for others"],
  set_vlan_pcp: [modPcp, "`modify` of frames with a tag, `push_vlan` for others"],
  set_tunnel: [tunnelId, "the key of the headers that an output to a tunnel port adds"],
  set_tunnel64: [tunnelId, "the key of the headers that an output to a tunnel port adds"],
  group: [
    (of, _, word) => ({ kind: "group", id: of.text, place: word.place }),
    "buckets of type `all` and `indirect` as copies; of others one bucket, if they have no more",
  ],
  meter: [
    (of, _, word) => ({ kind: "meter", id: of.text, place: word.place }),
    "`aso` with the meter, and a table that drops red frames",
  ],
  clone: [(of, around) => ({ kind: "clones", lists: [actionsOf(of, around)] }), "a copy: a member of an `array`"],
  apply_actions: [NOTHING_OF_ITS_OWN, "its actions"],
  write_actions: [
    (of, around) => ({ kind: "write", acts: actionsOf(of, around) }),
    "the actions where the tables end, in the order of action sets",
  ],
  clear_actions: [noOperand({ kind: "clear" }), "nothing is left of `write_actions`"],
  write_metadata: [(of) => metadata(of), "`modify`: `set`"],
  exit: [noOperand({ kind: "exit" }), "the end"],
  note: [() => NOTHING, "nothing"],
  conjunction: [conjunction, "with `conj_id` the flows that the clauses stand for"],
  ct_clear: [() => untracked(), "the state of the connection is forgotten"],
  ct: [
    NOTHING_OF_ITS_OWN,
    "with a table a copy that goes on there: as part of an established connection, in a register. `commit`, `nat`, `exec` and `alg` are refused",
  ],
};

function gotoTable(of: Piece, { table }: Around): Plain {
  const to = of.unquoted();
  if (/^\d+$/.test(to) && /^\d+$/.test(table) && Number(to) <= Number(table))
    notImported(of, "goto_table leads to a later table; resubmit leads to any");
  return lookup(to, undefined, table);
}

/** Actions without an equal, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  ...RESERVED,
  nat: "the device tracks one connection per object, not all traffic",
  learn: "it makes new flows out of frames",
  controller: "the device has no OpenFlow controller",
  enqueue: "queues of a port",
  set_queue: "queues of a port",
  pop_queue: "queues of a port",
  bundle: "it chooses a port by a hash of its own",
  bundle_load: "it chooses a port by a hash of its own",
  multipath: "it chooses by a hash of its own",
  sample: "samples go to a collector",
  push: "the device has no stack",
  pop: "the device has no stack",
  push_mpls: "the device does not add MPLS labels to a frame",
  pop_mpls: "the device does not remove MPLS labels from a frame",
  set_mpls_label: "the device does not change MPLS labels",
  set_mpls_tc: "the device does not change MPLS labels",
  set_mpls_ttl: "the device does not change MPLS labels",
  dec_mpls_ttl: "the device does not change MPLS labels",
  encap: "it adds a header of NSH or of Ethernet",
  decap: "it removes a header of NSH or of Ethernet",
  dec_nsh_ttl: "the device does not read NSH",
  check_pkt_larger: "the device does not compare lengths",
  fin_timeout: "rules of the device have no timeouts",
  delete_field: "options of Geneve",
  unroll_xlate: "it belongs to an action that was interrupted",
  output_reg: "the port is chosen by a field of each frame",
};

export const ACTION_NAMES: readonly string[] = [...Object.keys(READERS), ...Object.keys(REFUSED)];

export const ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  "a number, a name, LOCAL": { becomes: "as `output`" },
  ...Object.fromEntries(Object.entries(READERS).map(([name, [, becomes]]) => [name, { becomes }])),
  ...Object.fromEntries(Object.entries(REFUSED).map(([name, refused]) => [name, { refused }])),
};

/** Open vSwitch has 64 kB for the actions of a flow, and each takes 16 bytes or more. */
const MAX_ACTIONS = 4096;

/** The actions of a list. Each that is not carried over says why. */
export function actionsOf(list: Piece, around: Around): Act[] {
  const pieces = list.split(", \t");
  if (pieces.length > MAX_ACTIONS) notImported(list.part(0, 40), `a flow has ${MAX_ACTIONS} actions at most`);
  const drop = pieces.find(({ text }) => text.trim() === "drop");
  if (drop !== undefined && pieces.length > 1) notImported(drop, "drop stands alone: no other action is beside it");
  let { isTagged } = around;
  const acts = pieces.flatMap((piece) => {
    const read = attempt(() => readAction(piece, { ...around, isTagged }), refusedAct(piece));
    if (isTagged !== null) for (const { kind } of read) isTagged = TAGS[kind] ?? isTagged;
    return read;
  });
  // A slice has no room to grow.
  return acts.slice();
}

/** Whether a frame has a tag after an act. */
const TAGS: Readonly<Record<string, boolean>> = { push_vlan: true, set_vlan: true, pop_vlan: false };

function readAction(piece: Piece, around: Around): Act[] {
  const { text } = piece;
  const [, name = text] = /^([A-Za-z_]\w*)(?=[:=(]|$)/.exec(text) ?? [];
  const lower = name.toLowerCase();
  const operand = operandOf(piece, name.length);
  if (lower === "apply_actions") return actionsOf(operand, around);
  if (lower === "ct") {
    const acts = connection(operand);
    checkHeader(piece, { name: "ct", needs: IP }, around);
    return acts;
  }
  const refused = REFUSED[lower] ?? REFUSED[name.toUpperCase()];
  if (refused !== undefined) notImported(piece, refused);
  const [read] = READERS[lower] ?? [];
  if (read !== undefined) return [act(read(operand, around, piece))];
  if (/[:=(]/.test(text)) {
    notImported(piece, `there is no action ${name}; ${namesHint(name, "actions", ACTION_NAMES)}`);
  }
  const plain = outputTo(piece);
  return [act(plain.kind === "output" && /^[A-Za-z]/.test(text) ? { ...plain, bare: true } : plain)];
}

/** Why a name alone is no action. */
export const noAction = (name: string): string =>
  `unknown action ${name}, and the text has no port of this name; ${namesHint(name, "actions", ACTION_NAMES)}`;

/** What follows the name: after a colon or an equals sign (`ofputil_parse_key_value`), or in parentheses. */
function operandOf(piece: Piece, length: number): Piece {
  const rest = piece.part(length);
  if (/^[:=]/.test(rest.text)) return rest.part(1);
  return rest.call()?.[1] ?? rest;
}

function outputTo(of: Piece): Plain {
  if (of.text.endsWith("]") && of.text.includes("[")) notImported(of, REFUSED["output_reg"] as string);
  if (of.text.includes("="))
    notImported(of, "the device does not cut frames, nor choose ports by a field of each frame");
  const port = portWord(of.text);
  const refused = RESERVED[port];
  if (refused !== undefined) notImported(of, refused);
  if (port === "IN_PORT") return { kind: "in_port", place: of.place };
  return { kind: "output", port, place: of.place };
}

function lookup(table: string, inPort: string | undefined, from: string): Plain {
  return { kind: "lookup", table: table === "" ? from : table, inPort };
}

/** `resubmit:PORT`, `resubmit(PORT)`, `resubmit(,TABLE)`, `resubmit(PORT,TABLE)`. */
function resubmit(of: Piece, { table }: Around): Plain {
  const [port = "", to = "", more] = of.text.split(",").map((one) => one.trim().replace(/^"(.*)"$/, "$1"));
  if (more === "ct") notImported(of, REFUSED["nat"] as string);
  if (more !== undefined) notImported(of, "resubmit has a port and a table");
  // `resubmit(,)` is neither; `resubmit` alone looks the table up again.
  if (port === "" && to === "" && of.text !== "") notImported(of, "resubmit has a port or a table");
  const word = portWord(port);
  return lookup(to === "255" ? "" : to, word === "" || word === "IN_PORT" ? undefined : word, table);
}

function pushVlan(of: Piece): Plain {
  const tpid = of.text === "" ? 0x8100 : numberOf(of, "an EtherType", 16);
  if (tpid !== 0x8100 && tpid !== 0x88a8) notImported(of, "tags have the types 0x8100 and 0x88a8");
  return { kind: "push_vlan", tpid, vid: 0, pcp: 0 };
}

function modVid(of: Piece): Plain {
  return { kind: "set_vlan", vid: numberOf(of, "a VLAN", 12), pcp: undefined };
}

function modPcp(of: Piece): Plain {
  return { kind: "set_vlan", vid: undefined, pcp: numberOf(of, "a priority", 3) };
}

/** `conjunction(ID, K/N)`. */
function conjunction(of: Piece): Plain {
  const [, id, clause, clauses] = /^(\d+|0x[\da-f]+)\s*,\s*(\d+)\/(\d+)$/i.exec(of.text) ?? [];
  if (id === undefined || Number(clause) < 1 || Number(clause) > Number(clauses) || Number(clauses) > 64) {
    notImported(of, "a conjunction has an id, a clause and the number of clauses, 64 at most: conjunction(7,1/2)");
  }
  return { kind: "conjunction", id: Number(id), clause: Number(clause), of: Number(clauses) };
}

/** `write_metadata:VALUE[/MASK]`: what set_field does. */
function metadata(of: Piece): Plain {
  const full = 0xffffffffffffffffn;
  const [text = "", maskText] = of.text.split("/");
  const mask = maskText === undefined ? full : bigOf(of.part(text.length + 1), "a mask", 64);
  const value = bigOf(of.part(0, text.length), "metadata", 64) & mask;
  const half = (low: bigint): bigint => (mask >> low) & 0xffffffffn;
  return {
    kind: "change",
    changes: [
      { kind: "set" as const, field: "@reg 16", value: (value >> 32n) & half(32n), mask: half(32n) },
      { kind: "set" as const, field: "@reg 17", value: value & half(0n), mask: half(0n) },
    ].filter((one) => one.mask !== 0n),
  };
}

export type { Word };
