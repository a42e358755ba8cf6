/** Planted faults of the cache of decisions: its key, how far entries go, what makes them old, its memory, its sleep. */

const CACHE = ["test/assembly/walk/flowCache.test.ts"];
const MEMORY = ["test/assembly/walk/flowCacheMemory.test.ts"];
const STATE = ["test/model/traffic/flowCacheState.test.ts"];
const HOST = ["test/model/traffic/flowCache.test.ts"];
/** Plain rules are walked in one way with the cache and without. */
const PLAIN = [
  "test/assembly/walk/walk.test.ts",
  "test/assembly/act/ops.test.ts",
  "test/assembly/walk/pipelines.test.ts",
];

const at = (sees) => (file, id, search, replace, breaks) => ({
  id: `cache-${id}`,
  file,
  search,
  replace,
  breaks,
  sees,
});
const cache = at(CACHE);
const memory = at(MEMORY);
const host = at(HOST);
const walked = at(PLAIN);

const STEER = "assembly/steer";
/** Without the statement that makes entries old. */
const door = (file, id, before, behind, breaks) =>
  cache(file, `door-${id}`, `${before}  outdate();\n${behind}`, `${before}${behind}`, `entries that stay: ${breaks}`);
const stops = (id, search, replace, breaks) =>
  cache("assembly/act/keyDetermined.ts", `stop-${id}`, search, replace, breaks);
const program = (id, search, replace, breaks) =>
  cache("assembly/act/header/modify.ts", `stop-${id}`, search, replace, breaks);
const key = (id, search, replace, breaks) => cache(`${STEER}/cacheKey.ts`, `key-${id}`, search, replace, breaks);
const tape = (id, search, replace, breaks) => cache(`${STEER}/tape.ts`, `tape-${id}`, search, replace, breaks);
const plain = (id, search, replace, breaks) => walked(`${STEER}/plain.ts`, `plain-${id}`, search, replace, breaks);
const tapePlain = (id, search, replace, breaks) => cache(`${STEER}/plain.ts`, `plain-${id}`, search, replace, breaks);
const plainRule = (id, search, replace, breaks) => walked(`${STEER}/rule.ts`, `plain-${id}`, search, replace, breaks);
const sleep = (id, search, replace, breaks) => memory(`${STEER}/cache.ts`, id, search, replace, breaks);

export const CACHE_OF_DECISIONS = [
  door(`${STEER}/table.ts`, "insert", "  changed(table, rule);\n", "  return rule;", "another rule"),
  door(`${STEER}/table.ts`, "remove", "removeRule(rule: usize): void {\n", "", "a rule less"),
  door(`${STEER}/table.ts`, "rerank", "rankLow: u32): void {\n", "", "another rank"),
  door(`${STEER}/table.ts`, "miss", "setMiss(table: usize, next: usize): void {\n", "", "another table behind"),
  door(`${STEER}/table.ts`, "destroy", "destroyTable(table: usize): void {\n", "", "a table less"),
  door(`${STEER}/eswitch.ts`, "fdb", "setFdb(table: usize): void {\n", "", "another eSwitch"),
  door(`${STEER}/eswitch.ts`, "vport", "<u32>MAX_FUNCTIONS);\n", "", "another way to a function"),
  door(`${STEER}/cache.ts`, "clear", "clearCache(): void {\n", "", "forgotten by hand"),
  door("assembly/act/change.ts", "actions", "actionsWant(actions, count));\n", "", "other actions"),
  door("assembly/wire/sample.ts", "sample", "port: u32): void {\n  const sample = sampleAt(id);\n", "", "a sample"),
  door("assembly/wire/geneve.ts", "geneve", "type: u32): void {\n", "", "a Geneve option"),

  stops("pop", "      case Op.pop_vlan:\n", "", "behind a tag taken off"),
  stops("push", "      case Op.push_vlan:\n", "", "behind a tag put on"),
  stops("reformat", "      case Op.reformat:\n", "", "behind a tunnel taken off"),
  stops("state", "      case Op.state:\n", "", "behind what remembers"),
  { ...stops("esp", "      case Op.esp:\n", "", "behind ESP"), sees: STATE },
  stops("modify", "if (!isFunctionOfKey(", "if (false && !isFunctionOfKey(", "behind changes of headers"),
  program("copy", "if (type == MODIFY_COPY) return false;", "", "behind a copy"),
  program("leads", "if (leadsOn(to) || wanted", "if (wanted", "behind an EtherType, a port"),
  program("sums", "leadsOn(to) || wanted & SEES_CHECKSUMS", "leadsOn(to)", "behind what a sample sees"),
  program("carry", "INSTRUCTION_BITS)) & 7) return false;", "INSTRUCTION_BITS)) & 0) return false;", "behind a carry"),

  key("port", "0x0000ffff_00ffffff", "0x0000ffff_00ff0000", "a key without the port"),
  key("link", "0x0000ffff_00ffffff", "0x0000ffff_0000ffff", "a key without the link layer"),
  key("vport", "0x0000ffff_00ffffff", "0x00000000_00ffffff", "a key without the vport"),
  key("ranges", "  addRanged(ASKED, Tables.wanted);\n", "", "a key without what ranges ask about"),
  key(
    "tables",
    "addBytes(table + TABLE_DEFINER, ASKED);",
    "{ addBytes(table + TABLE_DEFINER, ASKED); break; }",
    "one table",
  ),
  key(
    "there",
    "if (Tables.wanted & WANT_CHANGES) {",
    "if (Tables.wanted & 0) {",
    "a key without the headers that change",
  ),
  key(
    "renewed",
    "  // Entries that are there",
    "  if (CacheKey.stride != 0) return true;\n  // Entries that are there",
    "old bytes",
  ),
  cache(
    `${STEER}/table.ts`,
    "key-registers",
    "  want(table, wants | actionsWant(actions, actionCount));",
    "  want(table, wants);",
    "what actions ask for",
  ),

  tape("order", "store<u32>(branch, <u32>next + 4, BRANCH_NEXT);", "", "the first result again"),
  tape("end", "<u32>results + (count << 2)", "<u32>results + 4 + (count << 2)", "a result too many"),
  tape("room", "if (count == Cache.results ||", "if (count == Cache.results + 1 ||", "a tape that runs over"),
  tape(
    "sender",
    "Cache.live = Walk.sender == 0 && isCacheAwake",
    "Cache.live = isCacheAwake",
    "frames that are looped back",
  ),
  tape("missed", "openTape(number, left);", "openTape(number, <u32>i);", "rules at others' places"),
  tape("forks", "if (load<u32>(branch, BRANCH_TAPED) == 0) return;", "", "what is found behind the end"),
  tape("in-order", " && !(Tables.wanted & WANT_ORDER);", ";", "frames that are walked one after the other"),

  tapePlain("counted", "if (counter != 0) count(counter", "if (false) count(counter", "a lost count"),
  plain("hits", "0x10001, OUTCOME_HITS", "0x10000, OUTCOME_HITS", "a lost hit"),
  plain("tag", "verdict & 0xffffffff_00000000, DEST_STATUS", "0, DEST_STATUS", "a lost tag"),
  tape("order-whole", " && !(Tables.wanted & WANT_ORDER)", "", "rules that nobody finds again"),
  tapePlain("entry-tag", "load<u8>(entry, ENTRY_KIND) & TAGGED", "false", "a lost tag"),
  plain("rule-counted", "if (more & PLAIN_COUNT) count(", "if (false) count(", "a lost count"),
  plain("rule-missed", "store<u64>(outcome, 0, OUTCOME_HITS);", "", "hits of the frame before"),
  plain("rule-reason", "((<u64>reason) << 16)", "0", "a miss without a reason"),
  plainRule(
    "last",
    "load<u32>(last) != Op.queue_from_others",
    "load<u32>(last) != Op.drop",
    "drops that are delivered",
  ),
  plainRule("others", "action != last || (load", "(load", "actions that do nothing"),

  memory(`${STEER}/cache.ts`, "forgets", "  Cache.live = false;\n", "", "entries in memory that others have"),
  memory("assembly/arena.ts", "lent", "  if (end > Arena.lent) giveBackCache();\n", "", "memory that two have"),
  sleep("limit", "<u64>bytesOf(entries, size) > <u64>beyond()", "false", "memory beyond the limit"),
  sleep("sleeps", "    // Nor is it getting better, as it does while a cache fills.\n    sleep();\n", "", "no sleep"),
  sleep("fills", "Sleep.hits <= Sleep.before + WINDOW / 32", "true", "sleep while it fills"),
  sleep("longer", "FIRST_SLEEP << Sleep.level", "FIRST_SLEEP", "no longer sleep"),
  sleep("wakes", "Sleep.frames > count ? Sleep.frames - count : 0", "Sleep.frames", "no waking up"),
  sleep("clears", "  outdate();\n  wake();", "  outdate();", "no waking by hand"),
  sleep(
    "width-grows",
    "  if (Cache.entries != 0 && Cache.size == size) return true;\n",
    "  if (Cache.entries != 0 && Cache.size == size) {\n    Cache.results = <u32>(TAPE_SIZE / 4) - 1;\n    return true;\n  }\n",
    "room of entries whose keys become wider",
  ),
  sleep("width", "size = (<u32>(CACHE_LANES_AT + CacheKey.stride", "size = (<u32>(CACHE_LANES_AT + 16", "wide entries"),

  host("src/model/traffic/flowCache.ts", "power", "(entries & (entries - 1)) === 0", "entries >= 0", "three entries"),
  host("src/model/traffic/flowCache.ts", "most", "entries <= MOST_ENTRIES && ", "", "too many entries"),
  host("src/model/traffic/flowCache.ts", "none", "cache === false || cache === 0", "cache === false", "0 for none"),
  host("src/model/traffic/flowCache.ts", "misses", "this.#count(8)", "this.#count(0)", "misses"),
];
