/** flowsteer run and check of scenarios whose rules change frames, and send them through functions. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildFrame } from "../../src/packet/builder/build.js";
import { readCapture, type CapturedFrame } from "../../src/packet/capture/read.js";
import { PcapngWriter } from "../../src/packet/capture/writer.js";
import { flowsteer, scratch } from "./support/command.js";

async function framesIn(folder: string, name: string): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = [];
  const file = new Uint8Array(readFileSync(join(folder, `${name}.pcapng`)));
  for await (const batch of readCapture(file)) frames.push(...batch);
  return frames;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("flowsteer run", () => {
  it("reports what was rewritten, registers, and rules by domain and function", async () => {
    const { code, out, err } = await flowsteer(["run", "examples/rules-eswitch.json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      [
        "Rewritten      frames  bytes",
        "qp:vm1              1     42",
        "qp:vm1-urgent       1     42",
        "port:1              1     46",
        "",
        "Register  frames  values",
        "C0             2  5, 100",
        "C1             2  0, 7",
        "",
        "Domain         Table          priority  rule                frames  bytes",
        "nic_tx of vf1  vm1 sends             0  note what vm1 says       2     84",
        "fdb            root                  0  all                      8    348",
        "               switch                0  VLAN 10, urgent          1     46",
      ].join("\n"),
    );
    expect(out).toContain(
      [
        "               known senders         0  inspect                  1     42",
        "                                     1  to vm1                   0      0  never hit",
      ].join("\n"),
    );
    expect(out).toContain("\nnic_rx of vf1  vm1 gets              0  urgent                   1     46\n");
  });

  it("opens a capture of IPsec, and writes what was said", async () => {
    const folder = scratch("opened");
    const files = ["examples/flows-strongswan.json", "examples/strongswan.pcap"];
    const { code, err } = await flowsteer(["run", ...files, "--out", folder]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const clear: string[] = [];
    const captured = new Uint8Array(readFileSync("test/captures/esp-strongswan-aes128gcm16.clear.pcap"));
    for await (const batch of readCapture(captured)) clear.push(...batch.map(({ bytes }) => hex(bytes)));
    const opened = [...(await framesIn(folder, "qp-from_a")), ...(await framesIn(folder, "qp-from_b"))];
    // In the order in which they came in: the capture of what was said has no link headers.
    opened.sort((one, other) => Number((one.time ?? 0n) - (other.time ?? 0n)));
    expect(opened.map(({ bytes }) => hex(bytes.subarray(14)))).toEqual(clear);
    expect((await framesIn(folder, "qp-ike")).length).toBe(4);
  });

  it("counts the values of a register that it does not list", async () => {
    const ports = [1, 2, 3, 4, 5, 5, 6];
    const document = {
      flowsteer: 1,
      tables: [{ name: "root", level: 0 }],
      rules: [
        {
          name: "note",
          table: "root",
          actions: [{ modify: [{ copy: "outer.udp_dport", into: "misc2.metadata_reg_c_0" }] }, "drop"],
        },
      ],
      frames: ports.map((port) => ({
        headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: port }],
      })),
    };
    const { out } = await flowsteer(["run", scratch("values.json", JSON.stringify(document))]);
    expect(out).toContain("\nC0             7  1, 2, 3, 4, and 2 more\n");
    expect(out).not.toContain("Domain");
  });

  it("prints with --json the bytes that arrived, where they are not those that came", async () => {
    const { out } = await flowsteer(["run", "examples/rules-mirror.json", "--json", "--limit", "1"]);
    const { to, toFrames } = JSON.parse(out) as { to: string[]; toFrames: (string | null)[] };
    expect(to).toEqual(["port:2", "qp:server"]);
    expect(toFrames[1]).toBeNull();
    expect(toFrames[0]).toMatch(/^0200000000c00200000000f20800/);
  });

  it("writes frames as they arrived, at both ends of a cable", async () => {
    const folder = scratch("overlay");
    expect((await flowsteer(["run", "examples/rules-overlay.json", "--out", folder])).code).toBe(0);
    const names = ["drop", "port-1", "port-2", "qp-blue-1", "qp-blue-2", "qp-green-2"];
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.pcapng`));
    const [wrapped] = await framesIn(folder, "port-1");
    const [unwrapped] = await framesIn(folder, "qp-blue-2");
    expect(wrapped).toMatchObject({ wireLength: 96, linkType: 1 });
    expect(unwrapped).toMatchObject({ wireLength: 46, linkType: 1 });
    expect(hex(wrapped!.bytes.subarray(50))).toBe(hex(unwrapped!.bytes));
  });

  it("writes what got an Ethernet header as Ethernet, and what was cut as cut", async () => {
    const ip = buildFrame([{ header: "ipv4" }, { header: "udp" }, { header: "payload", bytes: "00".repeat(40) }]);
    const writer = new PcapngWriter({ interfaces: [{ linkType: 101 }] });
    const cut = writer.frame({ time: 0n, bytes: ip.subarray(0, 40), wireLength: ip.length });
    const capture = scratch("raw.pcapng", Buffer.concat([writer.header(), cut]));
    const headers = [{ header: "ethernet" }, { header: "ipv4" }, { header: "gre" }];
    const run = async (name: string, actions: object[]): Promise<CapturedFrame[]> => {
      const document = {
        flowsteer: 1,
        queues: [{ name: "q" }],
        tables: [{ name: "root", level: 0 }],
        rules: [{ name: "all", table: "root", actions: [...actions, { queue: "q" }] }],
      };
      const folder = scratch(name);
      const file = scratch(`${name}.json`, JSON.stringify(document));
      expect(await flowsteer(["run", file, capture, "--out", folder, "--json"])).toMatchObject({ code: 0, err: "" });
      return framesIn(folder, "qp-q");
    };
    const [wrapped, lowered] = await Promise.all([
      run("wrapped", [{ reformat: { type: "l2_to_l3_tunnel", headers } }]),
      run("lowered", [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }]),
    ]);
    expect(wrapped).toMatchObject([{ linkType: 1, wireLength: ip.length + 38 }]);
    expect(wrapped[0]?.bytes.length).toBe(78);
    expect(lowered).toMatchObject([{ linkType: 101, wireLength: ip.length }]);
    expect(lowered[0]?.bytes[8]).toBe(63);
  });

  it("tells where what arrived is not what was expected", async () => {
    const document = JSON.parse(readFileSync("examples/rules-router.json", "utf8")) as {
      expect: { frames: { toFrames: object[] }[] };
    };
    document.expect.frames[1]!.toFrames = [{ "outer.ip_ttl_hoplimit": 2 }];
    const file = scratch("router.json", JSON.stringify(document));
    const { code, err } = await flowsteer(["run", file]);
    expect({ code, err }).toEqual({
      code: 1,
      err: `${file}: 1 expectation failed\n  frame 2 "to the lab over IPv6" at port:2: outer.ip_ttl_hoplimit: expected 2, got 1  (expect.frames[1].toFrames[0].outer.ip_ttl_hoplimit)\n`,
    });
  });
});

describe("flows and host rules of functions", () => {
  it("are told apart, and asked function by function", async () => {
    const document = {
      flowsteer: 1,
      device: { vports: 1 },
      queues: [{ name: "pf" }, { name: "vf", function: 1 }],
      flows: [
        { name: "of vf", queue: "vf", priority: 1 },
        { name: "of pf", queue: "pf", priority: 2 },
      ],
      hostRules: [{ name: "vf's host", application: "tc", function: 1, action: "drop" }],
      frames: [{ headers: [{ header: "ethernet", type: "0x88cc" }] }],
    };
    const { out } = await flowsteer(["run", scratch("functions.json", JSON.stringify(document))]);
    expect(out).toContain(
      [
        "Flow       function  kind    port  priority  frames  bytes",
        "of pf      pf        normal     1         2       1     14",
        "of vf      vf1       normal     1         1       0      0  never hit",
        "vf's host  vf1       tc                   0       0      0  never hit",
      ].join("\n"),
    );
  });
});

describe("flowsteer check", () => {
  it("lists flow actions and shared actions", async () => {
    const document = {
      flowsteer: 1,
      queues: [{ name: "q" }],
      flowActions: [{ name: "unwrap", reformat: { type: "l2_tunnel_to_l2" } }],
      actions: [{ name: "lower", modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }],
      flows: [{ queue: "q", specs: [{ vxlan_tunnel: {} }, { action: "unwrap" }] }],
    };
    const { code, out } = await flowsteer(["check", scratch("actions.json", JSON.stringify(document))]);
    expect(code).toBe(0);
    expect(out).toMatch(/\n {2}flowActions +1 {2}unwrap\n/);
    expect(out).toMatch(/\n {2}actions +1 {2}lower\n/);
  });

  it("says which change of which action is wrong", async () => {
    const document = {
      flowsteer: 1,
      actions: [{ name: "lower", modify: [{ add: "outer.ttl", by: -1 }] }],
    };
    const { code, err } = await flowsteer(["check", scratch("wrong.json", JSON.stringify(document))]);
    expect(code).toBe(2);
    expect(err).toMatch(/wrong\.json: actions\[0\]\.modify\[0\]\.add = "outer\.ttl": no field has this name\n/);
  });
});
