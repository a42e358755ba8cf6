import { Socket } from "node:net";
import { expect, test } from "vitest";
import { MessageWriter } from "../../../src/calls/index.js";
import { Connection } from "../../../src/cli/exec/connection.js";

function message(call: number, bytes: Uint8Array): Uint8Array {
  const writer = new MessageWriter();
  writer.u16(call);
  writer.raw(bytes);
  return writer.framed();
}

const CONTENTS = [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(300).fill(7), Uint8Array.of(2, 3)];
const STREAM = Buffer.concat(CONTENTS.map((bytes, call) => message(call, bytes)));
const WHOLE = CONTENTS.map((bytes, call) => `${call}: ${bytes.join()}`);

/** Takes the parts of a stream one after the other, and handles what is there after each. */
function handled(parts: readonly Uint8Array[]): string[] {
  const seen: string[] = [];
  const connection = new Connection(new Socket(), (call, reader) => {
    seen.push(`${call}: ${reader.raw(reader.left).join()}`);
  });
  for (const part of parts) {
    connection.take(Buffer.from(part));
    expect(connection.isFresh).toBe(true);
    while (connection.hasMessage) {
      expect(connection.nextCall).toBe(seen.length);
      connection.handleOne();
    }
  }
  return seen;
}

test("messages are handled as they come, wherever their bytes are cut", () => {
  expect(handled([STREAM])).toEqual(WHOLE);
  expect(handled([...STREAM].map((byte) => Uint8Array.of(byte)))).toEqual(WHOLE);
  for (let at = 1; at < STREAM.length; at++)
    expect(handled([STREAM.subarray(0, at), STREAM.subarray(at)]), `cut at ${at}`).toEqual(WHOLE);
});

test("a length that no message has is refused", () => {
  for (const length of [0, 1, 2 ** 31]) {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32LE(length);
    expect(() => handled([bytes]), `${length}`).toThrow(`message = ${length}: outside the range`);
  }
});
