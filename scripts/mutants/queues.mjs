/** Planted faults of work queues, spreading, TIRs and connected queue pairs. */

const RSS = ["test/verbs/queue/rss.test.ts"];

const act = (id, search, replace, breaks) => {
  return { id, file: "assembly/act/rss.ts", search, replace, breaks, sees: RSS };
};
const model = (name, id, search, replace, breaks, sees) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};

export const QUEUES = [
  act("spread-symmetric", "one | other", "one & other", "the first half of what both directions share"),
  act("spread-key-end", "next + 1 == <usize>SPREAD_KEY_SIZE ? 0", "next + 1 == 36 ? 0", "the end of the key"),
  act(
    "spread-fragment",
    "load<u16>(at, 6) & 0xff3f",
    "load<u16>(at, 6) & 0xff1f",
    "ports of first fragments are hashed",
  ),
  act("spread-inverted", "let hash: u32 = 0xff;", "let hash: u32 = 0;", "XOR8 is not inverted"),
  act("spread-level", "<u32>load<u8>(entry, 1) != level", "false", "headers of both packets are hashed"),
  act("spread-wants", "return load<u8>(record, SPREAD_INNER) != 0;", "return false;", "nobody reads the inner packet"),
  model(
    "spreadingQueuePair",
    "spread-fields",
    "((mask >> 4) & 12)",
    "((mask >> 5) & 12)",
    "which ports of UDP are hashed",
    RSS,
  ),
  model(
    "workQueue",
    "wq-flush",
    "if (to === IBV_WQS_ERR) this.#receive.flush();",
    "",
    "posted requests of a work queue in an error",
    ["test/verbs/queue/workQueues.test.ts"],
  ),
];
