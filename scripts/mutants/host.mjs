/** Planted faults of the host. No core is built for them. */

const FACADES = ["test/mlx5dv", "test/verbs", "test/model"];

const PARSER = ["test/model/parser.test.ts"];

const model = (name, id, search, replace, breaks, sees = FACADES) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};

export const HOST = [
  model(
    "classifier",
    "matcher-order",
    "this.#newerFirst ? this",
    "!this.#newerFirst ? this",
    "the order of matchers of one priority",
  ),
  model("classifier", "priority", "place.slot << UPPER_ORDER_BITS", "0", "the order of matchers beats priority"),
  model(
    "classifier",
    "renumber-order",
    "rules.sort((a, b) => a.sequence - b.sequence)",
    "rules",
    "renumbering shuffles rules",
  ),
  model("matcher", "outside-mask", "return outside === 0;", "return true;", "a value outside the mask"),
  model("matcher", "version-mask", "this.checkVersions(call, key);", "{}", "an IP version other than the mask's"),
  model("action", "two-terminals", "if (terminal !== undefined) bad", "if (false) bad", "two actions that end a rule"),
  model("action", "two-tags", "if (tag !== undefined) bad", "if (false) bad", "two tags"),
  model("action", "tag-bits", "const TAG_MASK = 0xffffff;", "const TAG_MASK = 0xffff;", "tags above 16 bits"),
  model("action", "root-destination", "if (table.isRoot) {", "if (false) {", "the root table as a destination"),
  model("action", "action-order", "(record[at - 2] as number) > op", "false", "actions run as listed"),
  model("action", "other-domain", "action.object.domain !== domain", "false", "a table of another domain"),
  model("match", "presence", "addPresence(mask, new Uint8Array(KEY_SIZE));", "", "absent headers match zeros"),
  model(
    "queues",
    "posted-order",
    "this.#posted[this.#tail % this.#depth] = copy;",
    "this.#posted[0] = copy;",
    "receive requests",
  ),
  model("queues", "flush", "if (state === IBV_QPS_ERR) this.#flush();", "", "posted requests of a queue in error"),
  model(
    "queues",
    "flush-uncounted",
    "if (wr !== undefined) attributes.recv_cq.add(",
    "if (wr !== undefined) attributes.recv_cq.push(",
    "room that flushed completions take",
  ),
  model(
    "queues",
    "other-device",
    "if (queue.device !== pd.device) refuse",
    "if (false) refuse",
    "a queue of another device",
  ),
  model("counter", "counter-offset", "this.handle + offset * 16", "this.handle", "counters of a bulk"),
  model("rule", "rule-matcher-busy", "matcher.users++;", "", "a matcher with rules can be destroyed"),
  model(
    "rule",
    "rule-action-busy",
    "for (const action of actions) action.users++;",
    "",
    "an action in use can be destroyed",
  ),
  model("parser", "sample-twice", "if ((declared & bit) !== 0) {", "if (false) {", "an id declared twice", PARSER),
  model("parser", "sample-any-port", "port ?? ANY_PORT", "port ?? 0", "samples of any port", PARSER),
  model(
    "parser",
    "sample-inner",
    'level === "inner" ? LEVEL_INNER : LEVEL_OUTER',
    "LEVEL_OUTER",
    "samples of the inner packet",
    ["test/engine/walk.test.ts"],
  ),
  model(
    "parser",
    "undeclared",
    "const missing = asked & ~this.#declared;",
    "const missing = asked & 0;",
    "rules on what the device does not declare",
    PARSER,
  ),
  model(
    "parser",
    "undeclared-exists",
    "((mask[MISC_GENEVE_BITS] ?? 0) & OPTION_EXISTS) !== 0 &&",
    "false &&",
    "rules on the presence of an option that is not declared",
    PARSER,
  ),
  model(
    "samples",
    "sample-place",
    "MISC4 + id * MISC4_SAMPLE_SIZE);",
    "MISC4 + place * MISC4_SAMPLE_SIZE);",
    "a sample stays at its place of the device bytes",
    PARSER,
  ),
  model("samples", "sample-same-id", "masked && places.includes(id)", "false", "two places of one id", PARSER),
  model("samples", "sample-other-id", "(id & ~idMask) === 0 && ", "", "a value of another id than the mask's", PARSER),
  model(
    "samples",
    "sample-bare",
    "const bare = masked < 0 && words.getUint32(at) !== 0;",
    "const bare = false;",
    "a value at a place without a mask",
    PARSER,
  ),
  model(
    "samples",
    "sample-ids",
    "for (const key of keys) key[at + 2 * VALUE_SIZE - 1] = id;",
    "",
    "device bytes without the ids",
    PARSER,
  ),
  model("handle", "busy", "if (object.users > 0) refuse", "if (false) refuse", "objects in use can be destroyed"),
];
