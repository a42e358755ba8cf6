/**
 * What frames can come to from a table on, whatever they are: all rules of all tables that its rules, its misses and the eSwitch
 * behind it lead to. Frames that can come to nothing of REACHABLE_* are steered alike by every core that has the same rules.
 */
import {
  ACTION_SIZE,
  ARRAY_COUNT,
  ARRAY_FIRST,
  MAX_FUNCTIONS,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_SIZE,
  Op,
  TABLE_FDB,
  TABLE_SEND,
  VPORT_MANAGER,
} from "../../src/abi/engine";
import {
  REACHABLE_CONNECTION,
  REACHABLE_ESP,
  REACHABLE_FLAG,
  REACHABLE_METER,
  REACHABLE_SAMPLER,
} from "../../src/abi/reachable";
import { SAMPLER_COUNT, SAMPLER_FIRST, SAMPLER_TABLE, SPREAD_MASK, SPREAD_QUEUES } from "../../src/abi/state";
import { FUNCTIONS } from "../memory";
import { servedBy } from "../out/queue";
import { Eswitch } from "../forward/eswitch";
import { actionsOf, RULE_ACTION_COUNT, RULE_NEXT } from "../classify/rule";
import { bucketAt, BUCKETS, linkOf, valueAt } from "../classify/hashTable";
import { TABLE_FLAGS, TABLE_MISS, TABLE_REACHABLE, TABLE_RULES, TABLE_HASH } from "../classify/tableLayout";

/** In TABLE_REACHABLE of the last table of the list. */
const NO_MORE: u32 = 1;

namespace Reach {
  export let last: usize = 0;
}

/** The union of REACHABLE_* over all rules that frames can come to from the table `root`. */
export function reachable(root: usize): u32 {
  store<u32>(root, NO_MORE, TABLE_REACHABLE);
  Reach.last = root;
  let things: u32 = 0;
  for (let table = root; table > <usize>NO_MORE; table = load<u32>(table, TABLE_REACHABLE)) things |= thingsOf(table);
  for (let table = root; table > <usize>NO_MORE;) {
    const next: usize = load<u32>(table, TABLE_REACHABLE);
    store<u32>(table, 0, TABLE_REACHABLE);
    table = next;
  }
  return things;
}

/** Frames can come to a table; 0 for none. */
function comeTo(table: usize): void {
  if (table == 0 || load<u32>(table, TABLE_REACHABLE) != 0) return;
  store<u32>(Reach.last, <u32>table, TABLE_REACHABLE);
  store<u32>(table, NO_MORE, TABLE_REACHABLE);
  Reach.last = table;
}

function comeToFunction(vport: u32): void {
  if (vport < <u32>MAX_FUNCTIONS) comeTo(load<u32>(FUNCTIONS + ((<usize>vport) << 2)));
}

/** What the table itself leads to; tables are listed. */
function thingsOf(table: usize): u32 {
  comeTo(load<u32>(table, TABLE_MISS));
  const flags = load<u32>(table, TABLE_FLAGS);
  if (flags & TABLE_SEND) comeTo(Eswitch.root);
  if (flags & (TABLE_SEND | TABLE_FDB)) comeToFunction(VPORT_MANAGER);
  if (load<u32>(table, TABLE_RULES) == 0) return 0;
  const slots = table + TABLE_HASH;
  const buckets = load<u32>(slots, BUCKETS);
  let things: u32 = 0;
  for (let n: u32 = 0; n < buckets; n++) {
    for (let bucket = bucketAt(slots, n); bucket != 0; bucket = linkOf(bucket)) {
      for (let slot: u32 = 0; slot < 4; slot++) {
        const first = valueAt(bucket, slot);
        if (first == 0 || first & 1) continue;
        for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
          things |= thingsIn(actionsOf(rule), load<u8>(rule, RULE_ACTION_COUNT));
        }
      }
    }
  }
  return things;
}

function thingsIn(actions: usize, count: u32): u32 {
  let things: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    const action = actions + <usize>n * ACTION_SIZE;
    things |= thingOf(load<u32>(action), load<u32>(action, 4));
  }
  return things;
}

function thingOf(op: u32, operand: u32): u32 {
  switch (op) {
    case Op.copy_queue:
    case Op.copy_from_others:
    case Op.queue:
    case Op.queue_from_others:
      return servedBy(operand);
    case Op.spread:
    case Op.copy_spread:
      return servedBySpread(operand);
    case Op.table:
      comeTo(operand);
      return 0;
    case Op.root:
      comeTo(load<u32>(operand));
      return 0;
    case Op.vport:
      comeToFunction(operand);
      return 0;
    case Op.array:
      return thingsInArray(operand);
    case Op.meter:
      return REACHABLE_METER;
    case Op.first_hit:
      return REACHABLE_FLAG;
    case Op.track:
      return REACHABLE_CONNECTION;
    case Op.esp:
      return REACHABLE_ESP;
    case Op.sample:
      comeTo(load<u32>(operand, SAMPLER_TABLE));
      return REACHABLE_SAMPLER | thingsIn(operand + SAMPLER_FIRST, load<u32>(operand, SAMPLER_COUNT));
    default:
      return 0;
  }
}

function servedBySpread(record: usize): u32 {
  const queues: usize = load<u32>(record, SPREAD_QUEUES);
  const last = load<u32>(record, SPREAD_MASK);
  let things: u32 = 0;
  for (let n: u32 = 0; n <= last; n++) things |= servedBy(load<u32>(queues + ((<usize>n) << 2)));
  return things;
}

function thingsInArray(array: usize): u32 {
  const members = load<u32>(array, ARRAY_COUNT);
  let things: u32 = 0;
  for (let n: u32 = 0; n < members; n++) {
    const member = array + ARRAY_FIRST + <usize>n * MEMBER_SIZE;
    things |= thingOf(load<u32>(member, MEMBER_OP), load<u32>(member, MEMBER_OPERAND));
  }
  return things;
}
