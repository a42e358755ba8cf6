/** Actions that change frames and registers. */
import { ALL_ESTABLISHED } from "../../../text/connection.js";
import { notImported, type Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import { CT_REGISTER, FOUND, NOT_TRACKED, UNKNOWN } from "../connection.js";
import { fieldChanges, listedBits, munge, type FieldChange } from "../pedit.js";
import { etherTypeOf, maskedNumber, tcNumber } from "../values.js";
import type { ActionContext, State, Step } from "./steps.js";

export function vlan(words: Cursor, _context: ActionContext, state: State, word: Word): Step[] {
  const what = words.next("push, pop or modify");
  if (what.text === "pop") return [{ kind: "pop" }];
  if (what.text !== "push" && what.text !== "modify") {
    return notImported(what, `the device pushes, pops and changes tags, and does not ${what.text}`);
  }
  let [vid, pcp, tpid]: (number | undefined)[] = [];
  for (;;) {
    if (words.take("id")) vid = tcNumber(words.next("a VLAN"), "a VLAN", 12);
    else if (words.take("priority")) pcp = tcNumber(words.next("a priority"), "a priority", 3);
    else if (words.take("protocol")) tpid = etherTypeOf(words.next("a protocol"));
    else break;
  }
  if (vid === undefined) return notImported(word, `vlan ${what.text} needs an id`);
  if (tpid !== undefined && tpid !== 0x8100 && tpid !== 0x88a8) notImported(word, "a tag is 802.1Q or 802.1ad");
  if (what.text === "push") return [{ kind: "push", vid, pcp: pcp ?? 0, tpid: tpid === 0x88a8 ? "0x88a8" : "0x8100" }];
  if (tpid === 0x88a8) notImported(what, "the device does not change the type of a tag");
  state.changed = true;
  const changes: FieldChange[] = [{ field: "first_vid", set: BigInt(vid), mask: 0xfffn }];
  if (pcp !== undefined) changes.push({ field: "first_prio", set: BigInt(pcp), mask: 7n });
  return [{ kind: "change", changes }];
}

export function pedit(words: Cursor, context: ActionContext, state: State, word: Word): Step[] {
  const changes: FieldChange[] = [];
  for (;;) {
    if (words.take("ex") || words.take("pedit") || words.take("munge", "ex")) continue;
    const isListed = words.take("bits");
    if (!isListed && !words.take("munge")) break;
    const at = isListed
      ? { text: `key at ${words.peek() ?? ""}`, place: words.place }
      : { text: `munge ${words.peek() ?? ""} ${words.peek(1) ?? ""}`, place: word.place };
    const change = (isListed ? listedBits : munge)(words, context.l4, context.l3);
    if (change === undefined) continue;
    if (change.header === "eth" && change.at + change.width > 96 && context.tagged) {
      notImported(at, "of a frame with tags the device changes the EtherType after them, not the first one");
    }
    changes.push(...fieldChanges(change, at));
  }
  state.changed = true;
  return changes.length === 0 ? [] : [{ kind: "change", changes }];
}

export function csum(words: Cursor, context: ActionContext, state: State, word: Word): Step[] {
  const targets = ["ip4h", "ip", "iph", "ipv4h", "icmp", "igmp", "tcp", "udp", "udplite", "sctp", "and", "or", "+"];
  while (targets.includes((words.peek() ?? "").replace(/,$/, ""))) words.next("a header");
  if (!state.changed) {
    context.refuse(word, "csum", "the device fixes checksums only as it changes fields");
  }
  return [];
}

export function ct(words: Cursor, context: ActionContext, state: State, word: Word): Step[] {
  if (words.take("clear")) return [register(CT_REGISTER, 0)];
  let zone = 0;
  for (;;) {
    if (words.take("zone")) zone = tcNumber(words.next("a zone"), "a zone", 16);
    else if (["commit", "force", "nat"].includes(words.peek() ?? "")) {
      const part = words.next("a part");
      const reason =
        part.text === "nat"
          ? "the addresses that a connection is translated to are in the kernel"
          : "the device does not add connections on its own";
      if (part.text !== "force") context.refuse(part, `ct ${part.text}`, reason);
      if (part.text === "nat" && (words.take("src") || words.take("dst"))) natRange(words);
    } else if (words.peek() === "mark" || words.peek() === "label") {
      const part = words.next("a mark");
      words.next("its value");
      context.refuse(part, `ct ${part.text}`, "the device does not write marks of connections");
    } else break;
  }
  state.zones.push({ number: zone, word });
  if (!context.isTracked) {
    context.assume(word, NOT_TRACKED);
    return [register(CT_REGISTER, zone * 65536 + UNKNOWN)];
  }
  context.assume(word, ALL_ESTABLISHED);
  return [register(CT_REGISTER, zone * 65536 + FOUND)];
}

function natRange(words: Cursor): void {
  while (words.take("addr") || words.take("port")) words.next("a range");
}

function register(field: string, value: number): Step {
  return { kind: "change", changes: [{ field, set: BigInt(value), mask: 0xffffffffn }] };
}

export function skbedit(words: Cursor, context: ActionContext): Step[] {
  const changes: FieldChange[] = [];
  for (;;) {
    if (words.take("mark")) {
      const { value, mask } = maskedNumber(words.next("a mark"), "a mark", 32);
      changes.push({ field: "misc2.metadata_reg_c_1", set: value & mask, mask });
    } else if (["priority", "queue_mapping", "ptype"].includes(words.peek() ?? "")) {
      const part = words.next("a part");
      words.next("its value");
      context.refuse(part, `skbedit ${part.text}`, `${part.text} is of the kernel's queues, not of the eSwitch`);
    } else if (words.peek() === "inheritdsfield") {
      context.refuse(words.next("it"), "skbedit inheritdsfield", "the priority is of the kernel's queues");
    } else break;
  }
  return changes.length === 0 ? [] : [{ kind: "change", changes }];
}
