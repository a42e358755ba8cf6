/** Planted faults of branches: splitting, the eSwitch, bytes of one's own, and what all of them come to. */

const SEEN = ["test/assembly/walk/pipelines.test.ts"];

const at = (file, id, search, replace, breaks) => {
  return { id, file: `assembly/${file}.ts`, search, replace, breaks, sees: SEEN };
};

export const BRANCHES = [
  at(
    "out/outcome",
    "settled-once",
    "  settle(branch, flags & DEST_PORT ? departure(index) : Verdict.deliver, Reason.none);",
    "  if (!(state & SETTLED)) settle(branch, flags & DEST_PORT ? departure(index) : Verdict.deliver, Reason.none);",
    "a member that comes to more than the one before",
  ),
  at(
    "out/outcome",
    "last-of-equals",
    "const better = worth(verdict) > ",
    "const better = worth(verdict) >= ",
    "the first",
  ),
  at(
    "out/outcome",
    "lost-uncounted",
    "if (lost != Reason.none) countReason(lost, 1);",
    "",
    "reasons of other branches",
  ),
  at("act/split", "member-unchanged", "record == 0 && !walks", "!walks", "the reformat of a member that ends there"),
  at("act/split", "only-counts", "      continue;\n", "", "a counter that is a destination"),
  at("act/split", "copy-stale", "    fresh(copy);\n", "", "the key of a copy that has other headers"),
  at(
    "steer/branch",
    "fork-shares",
    "const flags = load<u32>(branch, BRANCH_FLAGS) | SHARED;",
    "const flags = load<u32>(branch, BRANCH_FLAGS);",
    "copies that write over each other",
  ),
  at(
    "steer/branch",
    "fork-tag",
    "v128.store(copy, v128.load(branch, BRANCH_TAG), BRANCH_TAG);",
    "v128.store(copy, i64x2.splat(0), BRANCH_TAG);",
    "the tag of a copy",
  ),
  at("steer/branch", "fork-limit", "if (forks >= most) return 0;", "if (forks + 1 >= most) return 0;", "the last copy"),
  at("steer/eswitch", "one-passes", "const PASSING: u32 = 3;", "const PASSING: u32 = 1;", "C1 from domain to domain"),
  at("steer/eswitch", "metadata-passes", "store<u32>(load<u32>(branch, BRANCH_KEY), 0, MISC2_REGISTER_A);", "", "A"),
  at(
    "steer/eswitch",
    "registers-pass",
    "memory.fill(key + MISC2_REGISTER_C_7, 0, 24);",
    "memory.fill(key + MISC2_REGISTER_C_7, 0, 20);",
    "C2 from domain to domain",
  ),
  at(
    "steer/eswitch",
    "root-to-manager",
    "return flags & TABLE_ROOT ? byDefault(branch) :",
    "return flags & TABLE_ROOT ? toFunction(branch, VPORT_MANAGER) :",
    "frames of the manager that nobody switches",
  ),
  at(
    "steer/eswitch",
    "wire-to-wire",
    "settle(branch, Verdict.drop, Reason.wire_to_wire);",
    "toPort(branch, load<u16>(frame, FRAME_PORT));",
    "frames that go back to the wire",
  ),
  at(
    "steer/onward",
    "root-from-first",
    "store<u64>(branch, (<u64>slot) << RANK_SLOT, BRANCH_LOWER);",
    "",
    "the root table from its first rule on",
  ),
  at(
    "act/refresh",
    "register-lost",
    "  store<u32>(key, own, EXT_REGISTER_B);\n",
    "",
    "B of a frame that is parsed anew",
  ),
  at("act/bytes", "shared-bytes", "if (!(flags & SHARED) && address", "if (address", "bytes that others have too"),
  at("act/bytes", "chunks-of-before", "  Chunks.next = Chunks.first + CHUNK_HEAD;\n", "", "room of the batch before"),
  {
    ...at(
      "act/difference",
      "odd-routes",
      "odd ? bswap<u16>(<u16>difference) : difference",
      "difference",
      "what GRE carries behind an odd source route",
    ),
    sees: ["test/mlx5dv/dr/modifyHeader.test.ts"],
  },
  at(
    "act/run",
    "unterminated-switch",
    "if (flags & TABLE_FDB) return unswitched(branch, flags);",
    "",
    "a rule of the FDB that names no destination",
  ),
];
