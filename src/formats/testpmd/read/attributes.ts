/** The attributes of a rule: its group, its priority, and the frames that it is for. */
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import type { Domain, FlowRule } from "./rules.js";
import { numberAt, unknownWord } from "./values.js";

interface Attributes {
  readonly group: bigint;
  readonly priority: FlowRule["priority"];
  readonly domains: readonly Domain[];
  readonly userId: bigint | undefined;
}

const ATTRIBUTES = ["group", "priority", "ingress", "egress", "transfer", "user_id", "pattern"];

/** The attributes up to `pattern`. */
export function readAttributes(words: Cursor, port: Word): Attributes {
  let group = 0n;
  let priority = { value: 0n, word: port };
  const said = new Set<string>();
  let userId: bigint | undefined;
  for (;;) {
    const word = words.next('"pattern"');
    if (word.text === "pattern") break;
    if (word.text === "group") group = numberAt(words.next("a group"), "group", 32);
    else if (word.text === "priority") {
      const operand = words.next("a priority");
      priority = { value: numberAt(operand, "priority", 32), word: operand };
    } else if (["ingress", "egress", "transfer"].includes(word.text)) said.add(word.text);
    else if (word.text === "tunnel_set" || word.text === "tunnel_match") {
      notImported(word, "the driver composes the rules of a tunnel");
    } else if (word.text === "user_id") userId = numberAt(words.next("a number"), "user_id", 64);
    else unknownWord(word, "attribute", ATTRIBUTES);
  }
  if (said.has("transfer")) return { group, priority, domains: ["fdb"], userId };
  const domains: Domain[] = [
    ...(said.has("ingress") ? ["nic_rx" as const] : []),
    ...(said.has("egress") ? ["nic_tx" as const] : []),
  ];
  if (domains.length === 0) notImported(port, "its direction is missing: ingress, egress or transfer");
  return { group, priority, domains, userId };
}
