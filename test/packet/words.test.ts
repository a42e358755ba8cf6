/** The words of packet notation that programs can ask for. */
import { expect, test } from "vitest";
import { packetFields, packetHeaders, parsePacket } from "../../src/packet/index.js";

test("every header has its fields, and notation takes the names of both", () => {
  const headers = packetHeaders();
  expect(headers).toEqual(expect.arrayContaining(["ethernet", "ipv4", "vxlan", "bth", "payload", "trailer"]));
  for (const header of headers) {
    const fields = packetFields(header);
    expect(fields.length).toBeGreaterThan(0);
    for (const { name, kind } of fields) {
      // Without a value: a flag is set, any other field asks for the value, and an unknown name is refused as one.
      const text = `${header} ${name}`;
      const message = messageOf(() => parsePacket(text));
      if (kind !== "flag") expect(message, text).not.toBeNull();
      expect(message ?? "", text).not.toMatch(/no field has this name|no such header/);
    }
  }
});

test("fields say their kind, their flags and the names of their values", () => {
  expect(packetFields("tcp").find(({ name }) => name === "flags")).toEqual({
    name: "flags",
    kind: "flags",
    flags: ["ns", "cwr", "ece", "urg", "ack", "psh", "rst", "syn", "fin"],
    names: {},
  });
  expect(packetFields("ipv4").find(({ name }) => name === "protocol")?.names[6]).toBe("tcp");
  expect(packetFields("payload")).toEqual([{ name: "bytes", kind: "bytes", flags: [], names: {} }]);
  expect(packetFields("toString")).toEqual([]);
});

function messageOf(call: () => unknown): string | null {
  try {
    call();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
