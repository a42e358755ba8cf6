/** The actions of hardware steering: words of entries, and where the last entry leads. */
import type { ScenarioRuleAction } from "../../../../scenario/action/definition.js";
import { isEndpoint, NO_ENDPOINT } from "../../../reading/draft.js";
import type { Element } from "../../../reading/format.js";
import { changesOf } from "../modify.js";
import type { Destination, HardwareContext } from "./tree.js";

/** What actions refer to: names of objects that the scenario gets for them. */
export interface HardwareNames {
  /** The table with this number of the firmware; undefined if the dump does not contain it. */
  table(context: HardwareContext, number: number): string | undefined;
  tir(id: string): string;
}

type Imported = ScenarioRuleAction | null | { readonly refused: string };

/** An action's words, the second one if it has two. */
interface Words {
  readonly first: string;
  readonly second: string;
}

interface Action {
  readonly name: string;
  readonly words: 1 | 2;
  readonly read: (words: Words, context: HardwareContext) => Imported;
  readonly element: Element;
}

/** Places in a frame (mlx_steering_dump, hws/src/dr_common.py). */
const PACKET_START = 0x00;
const FIRST_VLAN = 0x02;
const IP_START = 0x07;
const INNER_MAC = 0x13;
const CONNECTX_7 = 28;
const CONNECTX_8 = 40;
/** Half-words of a VLAN tag, and of the MAC addresses before it. */
const TAG_SIZE = 2;
const MACS_SIZE = 6;

const refuse = (refused: string): Imported => ({ refused });
const no = (name: string, words: 1 | 2, reason: string): Action => {
  return { name, words, read: () => refuse(reason), element: { refused: reason } };
};
const does = (name: string, words: 1 | 2, becomes: string, read: Action["read"]): Action => {
  return { name, words, read, element: { becomes } };
};

const change: Action["read"] = ({ first, second }, context) => modified([first + second], context);
const OBJECT = "a dump does not contain the state of an ASO object";
const ACTIONS: ReadonlyMap<number, Action> = new Map([
  [0x00, does("no action", 1, "nothing", () => null)],
  [0x05, does("copy", 2, "`modify`: `copy`", change)],
  [0x06, does("set", 2, "`modify`: `set`", change)],
  [0x07, does("add", 2, "`modify`: `add`", change)],
  [0x08, does("remove by size", 1, "of a VLAN tag `pop_vlan`; else refused", removed)],
  [0x09, does("remove headers", 1, "of all before the inner Ethernet header `l2_tunnel_to_l2`; else refused", cut)],
  [0x0a, does("insert inline", 2, "of a VLAN tag `push_vlan`; else refused", inserted)],
  [
    0x0b,
    does(
      "insert from memory",
      2,
      "`l2_to_l2_tunnel`, where the dump has the memory (4912); else refused",
      encapsulated,
    ),
  ],
  [0x0c, does("flow tag", 1, "`tag`", ({ first }) => ({ tag: number(first, 2, 6) }))],
  [
    0x0e,
    does(
      "list of changes",
      2,
      "`modify`, where the dump has patterns and arguments (4911, 4912); else refused",
      listed,
    ),
  ],
  [0x10, no("IPsec encryption", 1, "a dump does not contain keys")],
  [0x11, no("IPsec decryption", 1, "a dump does not contain keys")],
  [0x12, no("ASO", 2, OBJECT)],
  [0x13, no("trailer", 1, "a dump does not contain keys")],
  [0x14, does("counter", 1, "`count`", ({ first }) => ({ count: counterName(number(first, 2, 6)) }))],
  [0x1b, no("add a field", 2, "the device's action that adds one field to another")],
  [0x1f, no("PSP encryption", 1, "the engine does not have PSP")],
  [0x20, no("PSP decryption", 1, "the engine does not have PSP")],
  [0x23, no("ASO of 32 bits", 2, OBJECT)],
  [0x28, no("completion", 2, "the engine does not write completions of rules")],
]);

export const counterName = (id: number): string => `counter 0x${id.toString(16)}`;

/** What is imported of the words of an entry, each with its text. */
export function* actionsOf(
  words: readonly string[],
  context: HardwareContext,
): Generator<{ readonly text: string; readonly action: Imported }> {
  for (let n = 0; n < words.length;) {
    const first = words[n] as string;
    const action = ACTIONS.get(number(first, 0, 2));
    const second = words[n + 1] ?? "00000000";
    const two = action?.words === 2;
    const text = two ? `${first} ${second}` : first;
    if (action === undefined) yield { text, action: refuse("unknown action of the device") };
    else yield { text: `${text} (${action.name})`, action: action.read({ first, second }, context) };
    n += two ? 2 : 1;
  }
}

/** Where an address leads. */
export function destinationOf(to: Destination, context: HardwareContext, names: HardwareNames): Imported {
  const id = Number(to.id);
  switch (to.type) {
    case "FT": {
      const table = names.table(context, id);
      return table === undefined ? refuse(`the table ${to.id} that it jumps to is not in the dump`) : { table };
    }
    case "TIR":
      return { tir: names.tir(to.id) };
    case "VPORT":
      return isEndpoint({ vport: id }) ? { vport: id } : refuse(NO_ENDPOINT);
    case "UPLINK":
      return { vport: "uplink" };
    case "DROP":
      return "drop";
    case "ALLOW":
      return "default_miss";
    default:
      return refuse(`a frame that leaves for ${to.type}`);
  }
}

/** The actions on the page of the format. */
export const HARDWARE_ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  "counter of an entry": { becomes: "`count`" },
  ...Object.fromEntries(
    [...ACTIONS].map(([id, { name, element }]) => [`0x${id.toString(16).padStart(2, "0")} ${name}`, element]),
  ),
  "FT, TIR, VPORT, UPLINK, DROP, ALLOW": {
    becomes: "where the last entry leads: a table, a TIR with one queue, a vport, the uplink, drop, default miss",
  },
  "other destinations": { refused: "a queue of RDMA and others do not have their numbers in the dump" },
};

function number(hex: string, from: number, digits: number): number {
  return Number.parseInt(hex.slice(from, from + digits), 16);
}

/** Bits of a word; bit 0 is the most significant one. */
function bits(word: string, from: number, to: number): number {
  return (Number.parseInt(word, 16) >>> (32 - to)) & (2 ** (to - from) - 1);
}

function modified(words: readonly string[], { firmware }: HardwareContext): Imported {
  const changes = changesOf(words, firmware >= CONNECTX_7 ? "later" : "first");
  return typeof changes === "string" ? refuse(changes) : { modify: [...changes] };
}

/** An action with places in the frame: ConnectX-8 has more bits for them. */
function anchorsOf(word: string, { firmware }: HardwareContext): readonly [from: number, next: number] {
  return firmware >= CONNECTX_8 ? [bits(word, 8, 15), bits(word, 15, 22)] : [bits(word, 10, 16), bits(word, 18, 24)];
}

/** The offset of an insertion from its place, in half-words. */
function offsetOf(word: string, { firmware }: HardwareContext): number {
  return firmware >= CONNECTX_8 ? bits(word, 15, 23) : bits(word, 16, 23);
}

function removed({ first }: Words, context: HardwareContext): Imported {
  const [from] = anchorsOf(first, context);
  if (from === FIRST_VLAN && bits(first, 26, 32) === TAG_SIZE) return "pop_vlan";
  return refuse("it removes bytes other than a VLAN tag");
}

function cut({ first }: Words, context: HardwareContext): Imported {
  const [from, to] = anchorsOf(first, context);
  if (from === PACKET_START && to === INNER_MAC) return { reformat: { type: "l2_tunnel_to_l2" } };
  return refuse(
    from === PACKET_START && to === IP_START
      ? "it removes the Ethernet header alone, for an encapsulation without one"
      : "it removes headers other than a tunnel with Ethernet inside",
  );
}

function inserted({ first, second }: Words, context: HardwareContext): Imported {
  const [from] = anchorsOf(first, context);
  const tpid = number(second, 0, 4);
  if (from !== PACKET_START || offsetOf(first, context) !== MACS_SIZE || (tpid !== 0x8100 && tpid !== 0x88a8)) {
    return refuse("it inserts bytes other than a VLAN tag");
  }
  const tci = number(second, 4, 4);
  return {
    push_vlan: {
      ...(tpid === 0x88a8 ? { tpid: "0x88a8" as const } : {}),
      pcp: tci >>> 13,
      dei: ((tci >>> 12) & 1) === 1,
      vid: tci & 0xfff,
    },
  };
}

/** Digits of an argument: 64 bytes of the device's memory. */
const ARGUMENT_DIGITS = 128;

function memory({ arguments: all }: HardwareContext, index: number, digits: number): string | null {
  let text = "";
  for (let n = index; text.length < digits; n++) {
    const part = all.get(n);
    if (part === undefined) return null;
    text += part.slice(0, ARGUMENT_DIGITS);
  }
  return text.slice(0, digits);
}

function encapsulated({ first, second }: Words, context: HardwareContext): Imported {
  const [from] = anchorsOf(first, context);
  if (from !== PACKET_START || offsetOf(first, context) !== 0) return refuse("it inserts headers inside the frame");
  const size = 2 * bits(first, 23, 29);
  const data = memory(context, Number.parseInt(second, 16), 2 * size);
  if (data === null) return refuse("the dump does not contain the headers that it adds (4912: --extra_hw_res arg)");
  return { reformat: { type: "l2_to_l2_tunnel", data: `0x${data}` } };
}

/** Changes of a pattern, and digits of each in the argument. */
const PATTERN_SIZE = 8;
const ARGUMENT_SIZE = 16;

function listed({ first, second }: Words, context: HardwareContext): Imported {
  const [pattern, count, argument] = [number(first, 2, 6), number(second, 0, 2), number(second, 2, 6)];
  const words: string[] = [];
  for (let n = 0; n < count; n++) {
    const block = Math.floor(n / PATTERN_SIZE);
    const [raw] = (context.patterns.get(pattern + block)?.[n % PATTERN_SIZE] ?? "").split("-");
    if (raw === undefined || raw === "") {
      return refuse("the dump does not contain the pattern of the changes (4911: --extra_hw_res pat,arg)");
    }
    // A pattern of a change with a value has the first word; the value is in the argument.
    const data = context.arguments.get(argument + block)?.slice(ARGUMENT_SIZE * (n % PATTERN_SIZE));
    const value = raw.length === 8 ? data?.slice(8, 16) : "";
    if (value === undefined) return refuse("the dump does not contain the values of the changes (4912)");
    words.push(raw + value);
  }
  return modified(words, context);
}
