/** Checks that connected queues name each other, and that messages use such queues. */
import type { RefusalReason } from "../../errors.js";
import { MAX_MESSAGE } from "../../model/base/port/ports.js";
import { PATH_MTUS } from "../queue/connection.js";
import type { Scenario } from "../document.js";
import type { ScenarioQueue } from "../queue/definition.js";
import { frameBytes } from "../frame/bytes.js";
import { hexText } from "../action/headerBytes.js";
import { attempt, type Report } from "../report.js";
import { below } from "../schema/path.js";

/** Looks names up and refuses unknown ones. */
export interface MessageChecks {
  known(kind: "queues" | "messages", path: string, name: string): void;
  queue(name: string): ScenarioQueue | undefined;
  bad(reason: RefusalReason, path: string, value: unknown, hint: string): void;
  readonly report: Report;
}

export function isConnectedType(type: ScenarioQueue["type"]): boolean {
  return type === "rc" || type === "uc";
}

export function checkMessages(scenario: Scenario, checks: MessageChecks): void {
  const { queues = [], messages = [], expect = {} } = scenario;
  queues.forEach((queue, i) => checkPeer(below("queues", i), queue, checks));
  messages.forEach((message, i) => {
    const path = below("messages", i);
    checkSender(`${path}.queue`, message.queue, checks);
    const length = attempt(checks.report, () => frameBytes(path, message).length) ?? 0;
    const key = message.hex === undefined ? "base64" : "hex";
    const hint = `a message has at most ${MAX_MESSAGE}`;
    if (length > MAX_MESSAGE) checks.bad("out_of_range", `${path}.${key}`, `${length} bytes`, hint);
  });
  expect.messages?.forEach(({ message, received }, i) => {
    const path = below("expect.messages", i);
    if (typeof message === "string") checks.known("messages", `${path}.message`, message);
    else if (message > messages.length) {
      checks.bad("unknown_name", `${path}.message`, message, `the document has ${messages.length} messages`);
    }
    const { hex } = received ?? {};
    if (hex !== undefined) attempt(checks.report, () => hexText(`${path}.received.hex`, hex));
  });
}

function checkPeer(
  path: string,
  { name, type = "raw_packet", peer, path_mtu }: ScenarioQueue,
  checks: MessageChecks,
): void {
  if (!isConnectedType(type)) {
    if (peer !== undefined) checks.bad("bad_scenario", `${path}.peer`, peer, "queues of type rc and uc have a peer");
    return;
  }
  if (peer === undefined) {
    checks.bad("bad_scenario", path, type, `a queue of type ${type} names the queue it is connected to as peer`);
    return;
  }
  checks.known("queues", `${path}.peer`, peer);
  const other = checks.queue(peer);
  if (other?.type !== type) checks.bad("bad_object", `${path}.peer`, peer, `a queue of type ${type}, like this one`);
  else if (other.peer !== name) {
    checks.bad(
      "bad_object",
      `${path}.peer`,
      peer,
      `peers name each other: write "peer": ${JSON.stringify(name)} there`,
    );
  }
  if (path_mtu === undefined || PATH_MTUS.has(path_mtu)) return;
  checks.bad("out_of_range", `${path}.path_mtu`, path_mtu, `one of ${[...PATH_MTUS.keys()].join(", ")} bytes`);
}

function checkSender(path: string, name: string, checks: MessageChecks): void {
  checks.known("queues", path, name);
  const { type, state = "rts" } = checks.queue(name) ?? {};
  if (!isConnectedType(type)) checks.bad("bad_object", path, name, "a queue of type rc or uc sends messages");
  if (state !== "rts" && state !== "err") checks.bad("bad_state", path, name, `its state is ${state}`);
}
