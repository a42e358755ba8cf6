/** Sends the messages of a scenario in order and compares them with their expectations. */
import { inCall } from "../../errors.js";
import { hexOf } from "../../base/hex.js";
import type { ConnectedQueue, Received } from "../queue/connection.js";
import type { Failure } from "../expect/failure.js";
import { frameBytes } from "../frame/bytes.js";
import { hexText } from "../action/headerBytes.js";
import {
  WC_STATUSES,
  type ExpectedMessage,
  type ExpectedReceive,
  type ScenarioMessage,
  type ScenarioCompletionStatus,
} from "./definition.js";
import { at } from "../place.js";
import { below } from "../schema/path.js";

/** The result of a message, as JSON. */
export interface MessageRecord {
  /** Its number, from 1. */
  message: number;
  /** The queue that sent it. */
  queue: string;
  /** Its length in bytes. */
  len: number;
  /** The status of the sender's completion. */
  status: ScenarioCompletionStatus;
  /** The completion of the peer; null for none. It has no bytes where its status is not success. */
  received: Required<ExpectedReceive> | null;
}

/** The two ends of a message. */
export interface MessageEnds {
  readonly from: ConnectedQueue;
  readonly to: ConnectedQueue;
}

/** Sends the messages in order. @throws SteeringError ENOMEM */
export function sendMessages(
  messages: readonly ScenarioMessage[],
  endsOf: (queue: string) => MessageEnds,
): MessageRecord[] {
  return inCall("loadScenario", () =>
    messages.map((message, i) => {
      const path = below("messages", i);
      const { queue, imm_data } = message;
      const { from, to } = endsOf(queue);
      const bytes = frameBytes(path, message);
      const status = nameOf(at(path, () => from.send(bytes, imm_data)));
      return { message: i + 1, queue, len: bytes.length, status, received: receivedRecord(to.received()) };
    }),
  );
}

function receivedRecord(received: Received | null): Required<ExpectedReceive> | null {
  if (received === null) return null;
  const { status, bytes, imm_data } = received;
  return { status: nameOf(status), hex: hexOf(bytes), imm_data };
}

function nameOf(status: number): ScenarioCompletionStatus {
  const found = Object.entries(WC_STATUSES).find(([, number]) => number === status);
  if (found === undefined) throw new Error(`loadScenario: a completion has the status ${status}`);
  return found[0] as ScenarioCompletionStatus;
}

/** Unmet expectations of messages; `records` is empty where they were not sent. */
export function messageFailures(
  expected: readonly ExpectedMessage[],
  messages: readonly ScenarioMessage[],
  records: readonly MessageRecord[],
): Failure[] {
  return expected.flatMap(({ message, status, received }, i) => {
    const path = below("expect.messages", i);
    const number = typeof message === "number" ? message : messages.findIndex(({ name }) => name === message) + 1;
    const about = `message ${JSON.stringify(message)}`;
    const record = records[number - 1];
    if (record === undefined) return [{ path, about, what: "message", expected: "a message", got: "none was sent" }];
    return [
      ...difference(`${path}.status`, about, "status", status, record.status),
      ...receiveFailures(`${path}.received`, about, received, record.received),
    ];
  });
}

function receiveFailures(
  path: string,
  about: string,
  expected: ExpectedReceive | null | undefined,
  got: MessageRecord["received"],
): Failure[] {
  return inCall("loadScenario", () => {
    if (expected === undefined) return [];
    if (expected === null || got === null) {
      const shown = (one: object | null): string => (one === null ? "nothing" : "a completion");
      return difference(path, about, "received", shown(expected), shown(got));
    }
    const hex = expected.hex === undefined ? undefined : hexOf(hexText(`${path}.hex`, expected.hex));
    return [
      ...difference(`${path}.status`, about, "received status", expected.status, got.status),
      ...difference(`${path}.hex`, about, "bytes", hex, got.hex),
      ...difference(`${path}.imm_data`, about, "imm_data", expected.imm_data, got.imm_data),
    ];
  });
}

function difference(path: string, about: string, what: string, expected: unknown, got: unknown): Failure[] {
  return expected === undefined || expected === got ? [] : [{ path, about, what, expected, got }];
}
