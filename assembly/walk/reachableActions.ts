/**
 * Which stateful, random or host-served actions frames can reach from a root table, whatever their
 * content. In: a root table. Out: REACHABLE_*. It visits all tables that rules, misses and the
 * eSwitch lead to. Frames that can reach none of these are steered alike by every core with the
 * same rules, so they may run on any.
 */
import {
  ACTION_OPERAND,
  ACTION_SIZE,
  ARRAY_COUNT,
  ARRAY_FIRST,
  MAX_FUNCTIONS,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_SIZE,
  Op,
  REACHABLE_CONNECTION,
  REACHABLE_ESP,
  REACHABLE_FLAG,
  REACHABLE_METER,
  REACHABLE_SAMPLER,
  ROOT_TABLE,
  TABLE_FDB,
  TABLE_SEND,
  VPORT_MANAGER,
} from "../../src/abi/engine";
import { SAMPLER_COUNT, SAMPLER_FIRST, SAMPLER_TABLE, RSS_MASK, RSS_QUEUES } from "../../src/abi/state";
import { RULE_ACTION_COUNT, RULE_NEXT } from "../../src/abi/rule";
import { TABLE_FLAGS, TABLE_MISS, TABLE_REACHABLE, TABLE_RULES, TABLE_HASH } from "../../src/abi/table";
import { FUNCTIONS } from "../memory";
import { servedBy } from "../out/queue";
import { Eswitch } from "../forward/eswitch";
import { actionsOf } from "../classify/rule";
import { firstValue, nextValue } from "../classify/tuples/hashTable";

/** TABLE_REACHABLE of the last table of the list. */
const NO_MORE: u32 = 1;

namespace List {
  export let last: usize = 0;
}

/** The union of REACHABLE_* over all rules that frames can reach from the table `root`. */
export function reachable(root: usize): u32 {
  store<u32>(root, NO_MORE, TABLE_REACHABLE);
  List.last = root;
  let found: u32 = 0;
  for (let table = root; table > <usize>NO_MORE; table = load<u32>(table, TABLE_REACHABLE)) found |= scanTable(table);
  for (let table = root; table > <usize>NO_MORE;) {
    const next: usize = load<u32>(table, TABLE_REACHABLE);
    store<u32>(table, 0, TABLE_REACHABLE);
    table = next;
  }
  return found;
}

/** Adds a table to the list; 0 for none. */
function addTable(table: usize): void {
  if (table == 0 || load<u32>(table, TABLE_REACHABLE) != 0) return;
  store<u32>(List.last, <u32>table, TABLE_REACHABLE);
  store<u32>(table, NO_MORE, TABLE_REACHABLE);
  List.last = table;
}

function addFunction(vport: u32): void {
  if (vport < <u32>MAX_FUNCTIONS) addTable(load<u32>(FUNCTIONS + ((<usize>vport) << 2)));
}

/** REACHABLE_* of the rules of one table. Lists the tables that it leads to. */
function scanTable(table: usize): u32 {
  addTable(load<u32>(table, TABLE_MISS));
  const flags = load<u32>(table, TABLE_FLAGS);
  if (flags & TABLE_SEND) addTable(Eswitch.root);
  if (flags & (TABLE_SEND | TABLE_FDB)) addFunction(VPORT_MANAGER);
  if (load<u32>(table, TABLE_RULES) == 0) return 0;
  let found: u32 = 0;
  for (let first = firstValue(table + TABLE_HASH); first != 0; first = nextValue()) {
    for (let rule = first; rule != 0; rule = load<u32>(rule, RULE_NEXT))
      found |= scanActions(actionsOf(rule), load<u8>(rule, RULE_ACTION_COUNT));
  }
  return found;
}

function scanActions(actions: usize, count: u32): u32 {
  let found: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    const action = actions + <usize>n * ACTION_SIZE;
    found |= scanAction(load<u32>(action), load<u32>(action, ACTION_OPERAND));
  }
  return found;
}

function scanAction(op: u32, operand: u32): u32 {
  switch (op) {
    case Op.copy_queue:
    case Op.copy_from_others:
    case Op.queue:
    case Op.queue_from_others:
      return servedBy(operand);
    case Op.rss:
    case Op.copy_rss:
      return servedByRss(operand);
    case Op.table:
      addTable(operand);
      return 0;
    case Op.root:
      addTable(load<u32>(operand, ROOT_TABLE));
      return 0;
    case Op.vport:
      addFunction(operand);
      return 0;
    case Op.array:
      return scanArray(operand);
    case Op.meter:
      return REACHABLE_METER;
    case Op.first_hit:
      return REACHABLE_FLAG;
    case Op.track:
      return REACHABLE_CONNECTION;
    case Op.esp:
      return REACHABLE_ESP;
    case Op.sampler:
      addTable(load<u32>(operand, SAMPLER_TABLE));
      return REACHABLE_SAMPLER | scanActions(operand + SAMPLER_FIRST, load<u32>(operand, SAMPLER_COUNT));
    default:
      return 0;
  }
}

function servedByRss(record: usize): u32 {
  const queues: usize = load<u32>(record, RSS_QUEUES);
  const last = load<u32>(record, RSS_MASK);
  let found: u32 = 0;
  for (let n: u32 = 0; n <= last; n++) found |= servedBy(load<u32>(queues + ((<usize>n) << 2)));
  return found;
}

function scanArray(array: usize): u32 {
  const members = load<u32>(array, ARRAY_COUNT);
  let found: u32 = 0;
  for (let n: u32 = 0; n < members; n++) {
    const member = array + ARRAY_FIRST + <usize>n * MEMBER_SIZE;
    found |= scanAction(load<u32>(member, MEMBER_OP), load<u32>(member, MEMBER_OPERAND));
  }
  return found;
}
