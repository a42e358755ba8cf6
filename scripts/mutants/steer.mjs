/** Planted faults of the classifier, phase by phase (assembly/classify/lookup.ts), and of what keeps it. */

const CLASSIFY = ["test/assembly/classify/classifier.test.ts", "test/assembly/classify/churn.test.ts"];
const MEMORY = ["test/assembly/classify/classifier.test.ts", "test/assembly/fullMemory.test.ts"];

const of =
  (name) =>
  (id, search, replace, breaks, sees = CLASSIFY) => {
    return { id, file: `assembly/steer/${name}.ts`, search, replace, breaks, sees };
  };

const definer = of("definer");
const gather = of("gather");
const mask = of("mask");
const group = of("group");
const chain = of("chain");
const slots = of("slots");
const sets = of("sets");
const slice = of("slice");
const prune = of("prune");
const probe = of("probe");
const verify = of("verify");
const sweep = of("sweep");
const rule = of("rule");
const table = of("table");

export const STEER = [
  definer("lane-pattern", "<u8>(byte & 15), STEP_PATTERN", "<u8>(byte & 7), STEP_PATTERN", "the upper half of a block"),
  definer(
    "definer-lanes",
    "(load<u32>(definer, COLUMNS) + 3) >> 2",
    "load<u32>(definer, COLUMNS) >> 2",
    "the last lane",
  ),
  definer(
    "shared-column",
    "if (place % COLUMN == 0)",
    "if (place == 0)",
    "the fifth small thing stands in another's column",
  ),
  gather("few-steps", "const FEW_STEPS: u32 = 4;", "const FEW_STEPS: u32 = 5;", "the fifth block of a one-lane gather"),

  mask(
    "hash-unmasked",
    "stirred(hash, v128.and(v128.load(bytes), v128.load(mask)))",
    "stirred(hash, v128.load(bytes))",
    "a hash of what is not asked",
  ),
  mask(
    "hash-lane",
    "folded(stirred(SEED ^ (<u64>seed), v128",
    "folded(stirred(SEED, v128",
    "keys and rules of one lane hash alike",
  ),
  group(
    "group-within",
    "if (v128.any_true(v128.andnot(v128.load(mine), v128.load(its)))) return false;",
    "",
    "a group that asks for more than the rule",
  ),
  group("group-last", "used == GROUPS - 1 && !hasAll", "false", "no group is left that takes every mask"),
  group("group-room", "memory.copy(to, old + <usize>(n * stride), stride);", "", "groups when there are more"),

  chain(
    "best-rank",
    "if (rank < load<u64>(group, GROUP_BEST)) store<u64>(group, rank, GROUP_BEST);\n  return true;",
    "return true;",
    "a group's best rank",
  ),
  rule(
    "chain-order",
    "while (load<u64>(behind, RULE_RANK) <= rank)",
    "while (load<u64>(behind, RULE_RANK) < rank)",
    "the older of equals",
  ),
  rule(
    "unlink-last",
    "store<u32>(next != 0 ? next : first, <u32>previous, RULE_PREVIOUS);",
    "if (next != 0) store<u32>(next, <u32>previous, RULE_PREVIOUS);",
    "the chain's last rule stays its last",
  ),
  rule(
    "range-high",
    "field > load<u32>(range, KEPT_HIGH)",
    "field >= load<u32>(range, KEPT_HIGH)",
    "the upper end of a range",
  ),
  rule(
    "bounds-low",
    "load<u32>(range, RANGE_LOW);\n  const high",
    "load<u32>(range, RANGE_LOW) + 1;\n  const high",
    "the lower end of a port range",
  ),
  rule("bounds-half", "== 0 ? 2 : 0);", "== 0 ? 0 : 2);", "which port a range is over"),
  rule("bounds-column", "<usize>load<u8>(rule, RULE_COLUMN)", "<usize>0", "where the ports of a range lie"),
  rule(
    "block-actions",
    "return block + <usize>rangeBytes(load<u32>(block));",
    "return block + 8;",
    "actions behind ranges",
    [...CLASSIFY, "test/mlx5dv/dr/dr.test.ts", "test/assembly/walk/walk.test.ts"],
  ),
  rule("range-shift", ">> load<u8>(range, KEPT_SHIFT)", "", "a range over a field in the middle of a dword"),

  slots("split-elder", "n ^ ((<u32>1) << (31 - clz(n)))", "0", "the bucket that a new one is split from"),
  slots("bucket-wide", "hash & (wide >> 1), n <", "n, n <", "hashes of buckets that are not there yet"),
  slots(
    "hint",
    "store<u32>(bucket, load<u32>(bucket, HINTS) | hintOf(hash), HINTS);",
    "",
    "what stands behind a bucket",
  ),
  slots("hint-moved", "hintOf(last) | hintOf(hash)", "hintOf(hash)", "the entry that gave way to a link"),
  slots(
    "part-again",
    "if (splits == MERGES || !split(slots)) return false;",
    "return false;",
    "what a merge took is not given back",
    MEMORY,
  ),
  slots("take-fill", "store<u32>(place, load<u32>(last + end, THING));", "", "what fills a slot that is freed"),
  slots(
    "slots-shrink",
    "load<u32>(slots, THINGS) * QUARTERS < buckets * SHRINK",
    "false",
    "buckets stay as many as they ever were",
    MEMORY,
  ),

  sets("wild", "leaveOut(sets, place, load<u64>(sets, ASKED) & ~whole);", "", "rules that leave a slice out"),
  sets(
    "wild-settled",
    "for (let set = table + byte; set < end; set += 16) put(set, bit);",
    "",
    "rules that leave a slice out, after the sweep",
  ),
  sets("wild-merged", "v128.or(v128.load(entry), wild)", "v128.load(entry)", "what lay beside the tables"),
  sets("wild-fresh", "v128.store(entry, empty);", "v128.store(entry, i64x2.splat(0));", "tables made after the sweep"),
  sets(
    "prune-order",
    "store<u8>(sets + <usize>groupOfPlace(sets, <usize>place), <u8>place, PLACE);",
    "store<u8>(sets + <usize>place, <u8>place, PLACE);",
    "places of groups",
  ),
  sets(
    "quad-lane",
    "if ((used & 3) == 0 || laneOfSlice(number) != lane) {",
    "if ((used & 3) == 0) {",
    "slices of another lane in one quad",
  ),
  prune("quad-lane-read", "LANES + <usize>load<u32>(quad, QUAD_LANE);", "LANES;", "quads of the second lane"),

  sets("verify-alive", "64 + ctz(high), low != 0", "64 + ctz(high), high == 0", "groups of the upper half"),

  sweep("sweep-both", "if (building != 0) addToSets(building, rule);", "", "rules that come while a sweep is on"),
  sweep("sweep-active", "      addToSets(tables, rule);\n", "", "rules that come after a sweep"),
  sweep(
    "sweep-step",
    "for (; cursor < end; cursor++) {",
    "for (cursor++; cursor < end; cursor++) {",
    "the first bucket of each step",
  ),
  sweep(
    "sweep-best",
    "store<u64>(groupAt(groups, index), bestSeen(building, index), GROUP_BEST);",
    "store<u64>(groupAt(groups, index), u64.MAX_VALUE, GROUP_BEST);",
    "best ranks after a sweep",
  ),
  table(
    "sweep-still",
    "load<u32>(table, TABLE_BUILDING) != 0);\n  releaseRule",
    "false);\n  releaseRule",
    "buckets merge under a sweep",
  ),
  mask(
    "trim-lanes",
    "(<usize>(lanes - 1)) << 4)))) lanes--;",
    "(<usize>(lanes - 1)) << 4)))) lanes -= min<u32>(lanes, 2);",
    "a mask loses its last lane",
  ),
  table(
    "mask-kept",
    "store<u32>(mask, load<u32>(mask, MASK_RULES) - 1, MASK_RULES);",
    "",
    "masks without rules stay",
    MEMORY,
  ),

  slice(
    "slice-asked",
    "load<u8>(lane + <usize>byte) != 0xff",
    "load<u8>(lane + <usize>byte) == 0",
    "rules that ask about half a slice",
  ),
  sets(
    "best-from",
    "load<u64>(from, BEST_FROM) > rank; from -= 8",
    "load<u64>(from, BEST_FROM) > rank; from = 0",
    "a better rank behind other places",
  ),
  probe("probe-follow", " | mayFollow(bucket, hash)", "", "what stands behind a bucket is not looked at"),
  probe(
    "probe-seed",
    "load<u32>(group, GROUP_LANES), load<u32>(group, GROUP_SEED)",
    "load<u32>(group, GROUP_LANES), 0",
    "hashes of groups",
  ),
  probe(
    "probe-stride",
    "const lanes = LANES + key * stride;",
    "const lanes = LANES + (key & ~1) * stride;",
    "every second key",
  ),
  probe(
    "probe-best",
    "if (bestFrom(sets, place) >= best) continue;",
    "if (bestFrom(sets, place) > 0) continue;",
    "groups that could still win",
  ),
  probe("probe-again", "again += (vain & ", "again += (0 & ", "keys whose first group has nothing"),
  probe("probe-taken", "low &= low - 1;", "low = 0;", "the groups behind the first"),
  verify("rank-signed", "if (rank >= best) return;", "if (<i64>rank >= <i64>best) return;", "ranks compared signed"),
  verify(
    "first-signed",
    "<u32>(rank >= best)",
    "<u32>(<i64>rank >= <i64>best)",
    "ranks of first rules compared signed",
  ),
  verify(
    "lower-bound",
    "if (bounded && load<u64>(rule, RULE_RANK) < load<u64>(branch, BRANCH_LOWER)) return false;",
    "",
    "the lower bound",
  ),
  verify("first-lower", "& MORE_TO_MATCH) | bounded;", "& MORE_TO_MATCH);", "the lower bound of first rules"),
  verify("first-more", "(more & (loses - 1)) != 0", "false", "ranges and further lanes of first rules"),
  verify("chain-next", "(load<u32>(rule, RULE_NEXT) & (0 - loses)) != 0", "false", "rules behind the first"),
];
