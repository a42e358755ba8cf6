/** Matchers of flowsteer/vitest: what passes, and what a failure says. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Device } from "../../src/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { matchers, steered, type SteeringMatchers } from "../../src/vitest/index.js";

declare module "vitest" {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-explicit-any, @typescript-eslint/no-unused-vars
  interface Matchers<T = any> extends SteeringMatchers {}
}
expect.extend(matchers);

let device: Device;
beforeAll(async () => {
  ({ device } = await loadScenario({
    flowsteer: 1,
    device: { ports: 2 },
    queues: [{ name: "web" }, { name: "dns" }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      { name: "https", table: "root", match: { "outer.tcp_dport": 443 }, actions: [{ queue: "web" }] },
      { name: "names", table: "root", match: { "outer.udp_dport": 53, "ext.port": 1 }, actions: [{ queue: "dns" }] },
      { name: "telnet", table: "root", match: { "outer.tcp_dport": 23 }, actions: ["drop"] },
    ],
  }));
});

/** What the failure of an assertion says. */
async function failure(assertion: Promise<void>): Promise<string> {
  return assertion.then(
    () => "it passed",
    (error: unknown) => (error as Error).message.replace(/\s+/g, " "),
  );
}

describe("a frame", () => {
  it("reaches a queue, by its name or its label", async () => {
    await expect(steered(device, "ipv4 / tcp > 443")).toDeliverTo("web");
    await expect(steered(device, "ipv4 / tcp > 443")).toDeliverTo("qp:web");
    await expect(steered(device, "ipv4 / tcp > 443")).not.toDeliverTo("dns");
    await expect(steered(device, "ipv4 / tcp > 443")).toHitRule("https");
    await expect(steered(device, "ipv4 / udp > 53")).toDeliverTo("dns");
    await expect(steered(device, "ipv4 / udp > 53", { port: 2 })).toMiss();
    await expect(steered(device, "ipv4 / tcp > 23")).toDropBecause("drop_action");
    await expect(steered(device, "ipv4 / tcp > 23")).not.toDropBecause("hop_limit");
  });

  it("reaches a port of the device", async () => {
    const { device: bridge } = await loadScenario({
      flowsteer: 1,
      device: { ports: 2 },
      tables: [{ name: "fdb", level: 0, domain: "fdb" }],
      rules: [{ name: "out", table: "fdb", match: { "outer.ip_version": 4 }, actions: [{ port: 2 }] }],
    });
    await expect(steered(bridge, "ipv4 / udp")).toDeliverTo("port:2");
    await expect(steered(bridge, "ipv4 / udp")).not.toDeliverTo("port:1");
    const none = await failure(expect(steered(bridge, "ipv4 / udp")).not.toDeliverTo("port:3"));
    expect(none).toContain("toDeliverTo: name = 3");
  });

  it("has the link type of its notation", async () => {
    expect(steered(device, "raw / ipv4 / tcp > 443").linkType).not.toBe(steered(device, "ipv4 / tcp > 443").linkType);
    await expect(steered(device, "raw / ipv4 / tcp > 443")).toDeliverTo("web");
  });

  it("leaves the device as it is", async () => {
    const arena = (): Uint8Array => device.core.u8.slice(device.core.arena, device.core.exports.arenaTop() >>> 0);
    const before = arena();
    await expect(steered(device, "ipv4 / tcp > 443")).toDeliverTo("web");
    expect(arena()).toEqual(before);
  });
});

describe("a failure", () => {
  it("says why the frame did not get there", async () => {
    const text = await failure(expect(steered(device, "ipv4 / tcp > 444")).toDeliverTo("web"));
    expect(text).toContain("expected the frame to deliver to web");
    expect(text).toContain('rule "https", which delivers to qp:web, does not match: outer.tcp_dport is 444, not 443');
    expect(text).toContain("Send the frame with outer.tcp_dport 443");
  });

  it("says what dropped it, of a frame that was to miss", async () => {
    const text = await failure(expect(steered(device, "ipv4 / tcp > 23")).toMiss());
    expect(text).toContain('rule "telnet" drops the frame');
  });

  it("says who took it, where it was not to get there", async () => {
    const text = await failure(expect(steered(device, "ipv4 / tcp > 443")).not.toDeliverTo("web"));
    expect(text).toContain("expected the frame not to deliver to web");
    expect(text).toContain('qp:web got the frame by rule "https"');
  });

  it("names what a name may mean that nothing has, where the frame is not to get there, too", async () => {
    const frame = steered(device, "ipv4 / tcp > 443");
    expect(await failure(expect(frame).toDeliverTo("wbe"))).toContain('did you mean "web"?');
    expect(await failure(expect(frame).not.toDeliverTo("wbe"))).toContain('did you mean "web"?');
    expect(await failure(expect(frame).not.toHitRule("htps"))).toContain('did you mean "https"?');
    expect(await failure(expect(frame).not.toDropBecause("drop_acton"))).toContain('did you mean "drop_action"?');
  });
});
