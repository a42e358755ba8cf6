/** The headers of a parse step in one line. */
import { expect, test } from "vitest";
import { headerChain, packetLine } from "../../../src/explain/index.js";
import { createDevice } from "../../../src/index.js";
import { buildFrame, parsePacket } from "../../../src/packet/index.js";

test("headers carry their addresses, ports and numbers", () => {
  const headers = [
    { header: "ethernet", level: "outer", offset: 0 },
    { header: "vlan", level: "outer", offset: 14 },
    { header: "vlan", level: "outer", offset: 18 },
    { header: "ipv4", level: "outer", offset: 22 },
    { header: "esp", level: "outer", offset: 42 },
  ] as const;
  const fields = {
    "outer.first_vid": 10,
    "misc.outer_second_vid": 20,
    "outer.ipv4_src": "192.0.2.1",
    "outer.ipv4_dst": "192.0.2.2",
    "misc.outer_esp_spi": 0x1001,
  };
  const step = { headers: [...headers], fields, payload: { offset: 50, end: 54 } };
  expect(headerChain(step)).toBe("ethernet / vlan 10 / vlan 20 / ipv4 192.0.2.1 > 192.0.2.2 / esp 0x1001 / payload");
  expect(headerChain({ ...step, payload: { offset: 50, end: 50 } })).not.toContain("payload");
});

test.each([
  "ethernet / vlan 10 / vlan 20 / ipv6 2001:db8::1 > 2001:db8::2 / icmpv6 135",
  "ethernet / ipv4 192.0.2.1 > 192.0.2.2 / icmp 8",
  "ethernet / ipv4 192.0.2.1 > 192.0.2.2 / esp 0x1001",
  "ethernet / ipv4 192.0.2.1 > 192.0.2.2 / gre 7 / ipv4 10.0.0.1 > 10.0.0.2 / tcp 9 > 80",
  ...["4789 / vxlan 5001", "4790 / vxlan_gpe 5001", "6081 / geneve 5001"].map(
    (tunnel) =>
      `ethernet / ipv4 192.0.2.1 > 192.0.2.2 / udp 9 > ${tunnel} / ethernet / ipv4 10.0.0.1 > 10.0.0.2 / udp 9 > 53`,
  ),
  "ethernet / ipv4 192.0.2.1 > 192.0.2.2 / udp 9 > 2152 / gtpu 5 / ipv4 10.0.0.1 > 10.0.0.2 / udp 9 > 53",
  "ethernet / ipv4 192.0.2.1 > 192.0.2.2 / udp 9 > 4791 / bth 17",
])("%s is packet notation", async (text) => {
  const device = await createDevice();
  const frame = buildFrame(parsePacket(text).layers);
  const [parsed] = device.parseBatch([frame]);
  expect(headerChain(parsed!)).toBe(text);
  expect(packetLine(frame, parsed!)).toBe(text);
});

test("a line of a frame names the fields that a chain lacks", async () => {
  const device = await createDevice();
  const text = "ipv4 192.0.2.1 > 192.0.2.2, dscp 9, ttl 3 / tcp 9 > 80 / payload 0x0102";
  const frame = buildFrame(parsePacket(text).layers);
  const line = packetLine(frame, device.parseBatch([frame])[0]!);
  expect(line).toContain("dscp 9");
  expect(buildFrame(parsePacket(line).layers)).toEqual(frame);
});
