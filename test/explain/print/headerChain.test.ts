/** The headers of a parse step in one line. */
import { expect, test } from "vitest";
import { headerChain } from "../../../src/explain/index.js";

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
