/** Planted faults of the host. No core is built for them. */

const FACADES = ["test/mlx5dv", "test/verbs", "test/model"];

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
  model(
    "classifier",
    "priority",
    "(matcher.priority << 16) | order",
    "(order << 16) | matcher.priority",
    "the order of matchers beats priority",
  ),
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
  model("handle", "busy", "if (object.users > 0) refuse", "if (false) refuse", "objects in use can be destroyed"),
];
