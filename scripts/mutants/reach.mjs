/** Planted faults of what frames can come to: things that are missed, tables that are not followed. */

const SEES = ["test/assembly/walk/reachableActions.test.ts"];
const REACH = "assembly/walk/reachableActions.ts";

const reach = (id, search, replace, breaks) => {
  return { id: `reach-${id}`, file: REACH, search, replace, breaks, sees: SEES };
};
/** An operation that is not known. */
const lost = (id, text, breaks) => reach(id, `    case Op.${text}:\n`, "", breaks);
/** What an operation leads to is not said. */
const nothing = (id, text, breaks) => reach(id, text, "0", breaks);

export const REACH_OF_FRAMES = [
  nothing("meter", "REACHES_METER;", "meters"),
  nothing("flag", "REACHES_FLAG;", "flags"),
  nothing("connection", "REACHES_CONNECTION;", "connections"),
  nothing("esp", "REACHES_ESP;", "ESP"),
  reach("sampler", "REACHES_SAMPLER | thingsIn", "thingsIn", "samplers"),
  lost("copy-queue", "copy_queue", "queues that get a copy"),
  lost("copy-from-others", "copy_from_others", "copies of others"),
  lost("queue-from-others", "queue_from_others", "queues of frames of others"),
  lost("spread", "spread", "queues of a hash"),
  lost("copy-spread", "copy_spread", "queues of a hash that get a copy"),
  reach("spread-last", "n <= last", "n < last", "the last queue of a hash"),
  reach("spread-first", "u32 = 0; n <= last", "u32 = 1; n <= last", "the first queue of a hash"),
  reach("members", "n < members", "n + 1 < members", "the last member of an array"),
  reach("samples", "load<u32>(operand, SAMPLER_COUNT)", "0", "what is done with samples"),
  reach("sampled-on", "comeTo(load<u32>(operand, SAMPLER_TABLE));", "", "where sampled frames go on"),
  reach(
    "actions",
    "n < count; n++) {\n    const action",
    "n < 1; n++) {\n    const action",
    "actions behind the first",
  ),
  reach("table", "comeTo(operand);", "", "tables that rules name"),
  reach("root", "comeTo(load<u32>(operand));", "", "ranks of tables that rules name"),
  reach("vport", "      comeToFunction(operand);\n", "", "functions"),
  reach("miss", "comeTo(load<u32>(table, TABLE_MISS));", "", "tables behind others"),
  reach("fdb", "if (flags & TABLE_SEND) comeTo(Eswitch.root);", "", "the eSwitch behind what is sent"),
  reach("manager", "flags & (TABLE_SEND | TABLE_FDB)", "flags & TABLE_SEND", "the manager behind the eSwitch"),
  reach("manager-sent", "flags & (TABLE_SEND | TABLE_FDB)", "flags & TABLE_FDB", "the manager behind what is sent"),
  reach("buckets", "n < buckets", "n + 1 < buckets", "the last bucket of a table"),
  reach("overflow", "bucket = linkOf(bucket)", "bucket = 0", "buckets that run over"),
  reach("slots", "slot < 4", "slot < 3", "the last rule of a bucket"),
  reach("chain", "rule = load<u32>(rule, RULE_NEXT)", "rule = 0", "rules of the same frames"),
  reach("again", "store<u32>(table, 0, TABLE_REACHED);", "", "the same asked again"),
  {
    ...reach("not-ready", "  if (!(flags & QUEUE_READY)) return 0;\n", "", "queues that take no frames"),
    file: "assembly/out/queue.ts",
  },
  {
    ...reach("read", "if (flags & QUEUE_READ) return REACHES_TRANSPORT;", "", "queues that are read"),
    file: "assembly/out/queue.ts",
  },
];
