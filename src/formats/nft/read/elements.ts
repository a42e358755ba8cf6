/** What happens to the objects and statements of nftables. */
import type { Element } from "../../reading/format.js";

export const OFFLOAD = "the kernel does not offload it";
export const NO_SETS = "the kernel does not offload sets and ranges";
export const NO_MATCH = "the kernel does not offload matches on it";
export const NOT_INGRESS = "only ingress chains of family netdev are offloaded";
export const FLOWTABLE = "the kernel adds connections to it as it sees them";

/** Statements of a rule. */
export const STATEMENTS: Readonly<Record<string, Element>> = {
  counter: { becomes: "nothing: the device counts" },
  drop: { becomes: "drop" },
  accept: { becomes: "the frame goes to the PF, where the kernel is" },
  "fwd to a device": { becomes: "the port" },
  "fwd to an address": { refused: "the kernel resolves the neighbour" },
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
  flow: { refused: "the kernel adds connections to a flowtable as it sees them" },
};

/** Objects, and commands of scripts. */
export const OBJECTS: Readonly<Record<string, Element>> = {
  "chain, hook ingress": { becomes: "the table of its device; a policy of drop is a last rule" },
  rule: { becomes: "a rule, in the order of the chain" },
  "insert rule": { becomes: "a rule before the others of its chain" },
  "rule with index, position or handle": { refused: "its place depends on a number that the kernel assigns" },
  "rules of other chains": { refused: NOT_INGRESS },
  flowtable: { refused: FLOWTABLE },
  "set, map, table, metainfo": { becomes: "nothing: rules that name a set are refused" },
  "define, $NAME": { becomes: "its value, where it is used" },
  "flush, delete, reset": { becomes: "nothing before the first chain; refused after it" },
  include: { refused: "an included file is not read: import its text" },
  list: { becomes: "nothing" },
};

/** Why an element of a table above is refused. */
export function refusalOf(elements: Readonly<Record<string, Element>>, name: string): string {
  const element = elements[name];
  return element !== undefined && "refused" in element ? element.refused : "";
}
