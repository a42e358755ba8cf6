/** What happens to the objects and statements of nftables. */
import type { Element } from "../../reading/format.js";

export const OFFLOAD = "the kernel does not hand it to a NIC";
export const NO_SETS = "the kernel does not hand sets and ranges to a NIC";
export const NO_MATCH = "the kernel does not hand matches of it to a NIC";
export const NOT_INGRESS = "only ingress chains of family netdev are handed to a NIC";
export const FLOWTABLE = "connections come into it as the kernel sees them";

/** Statements of a rule. */
export const STATEMENTS: Readonly<Record<string, Element>> = {
  counter: { becomes: "nothing: the device counts" },
  drop: { becomes: "drop" },
  accept: { becomes: "the frame goes to the PF, where the kernel is" },
  "fwd to a device": { becomes: "the port" },
  "fwd to an address": { refused: "the kernel looks its neighbour up" },
  dup: { becomes: "a member of an array" },
  comment: { becomes: "nothing" },
  jump: { refused: OFFLOAD },
  goto: { refused: OFFLOAD },
  return: { refused: OFFLOAD },
  continue: { refused: OFFLOAD },
  vmap: { refused: OFFLOAD },
  limit: { refused: OFFLOAD },
  quota: { refused: OFFLOAD },
  mangle: { refused: OFFLOAD },
  log: { refused: OFFLOAD },
  queue: { refused: OFFLOAD },
  reject: { refused: OFFLOAD },
  notrack: { refused: OFFLOAD },
  synproxy: { refused: OFFLOAD },
  flow: { refused: "connections come into a flowtable as the kernel sees them" },
};

/** Objects, and commands of scripts. */
export const OBJECTS: Readonly<Record<string, Element>> = {
  "chain, hook ingress": { becomes: "the table of its device; a policy of drop is a last rule" },
  rule: { becomes: "a rule, in the order of the chain" },
  "insert rule": { becomes: "a rule before the others of its chain" },
  "rule with index, position or handle": { refused: "its place in the chain is a number that the kernel gives" },
  "rules of other chains": { refused: NOT_INGRESS },
  flowtable: { refused: FLOWTABLE },
  "set, map, table, metainfo": { becomes: "nothing: rules that name a set are refused" },
  "define, $NAME": { becomes: "its value, where it is used" },
  "flush, delete, reset": { becomes: "nothing before the first chain; refused after it" },
  include: { refused: "the file is not read: give its text to the importer" },
  list: { becomes: "nothing" },
};

/** Why an element of a table above is refused. */
export function refusalOf(elements: Readonly<Record<string, Element>>, name: string): string {
  const element = elements[name];
  return element !== undefined && "refused" in element ? element.refused : "";
}
