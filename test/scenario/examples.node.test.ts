/** The examples that are shipped: each runs, and shows what it says it shows. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadScenario, type LoadedScenario } from "../../src/scenario/index.js";
import { readCapture } from "../../src/packet/capture/read.js";

const folder = new URL("../../examples/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

/** The offset of UDP in a frame of strongswan.pcap. */
const UDP = 34;

async function runEveryday(): Promise<LoadedScenario> {
  const loaded = await loadScenario(read("everyday.json"));
  for await (const frames of readCapture(new Uint8Array(readFileSync(new URL("everyday.pcap", folder)))))
    loaded.run(frames);
  return loaded;
}

describe("examples", () => {
  it("are there", () => {
    expect(names.sort()).toEqual([
      "cover-dead.json",
      "everyday.json",
      "flows-copies.json",
      "flows-device.json",
      "flows-esp.json",
      "flows-sending.json",
      "flows-strongswan.json",
      "flows-vxlan.json",
      "messages.json",
      "ports.json",
      "rss.json",
      "rules-eswitch.json",
      "rules-mirror.json",
      "rules-overlay.json",
      "rules-router.json",
      "serve-switch.json",
      "state-firewall.json",
      "state-meter.json",
      "state-sampler.json",
      "tunnel.json",
      "why-hidden.json",
      "why-meter.json",
      "why-port.json",
      "why-vf.json",
      "why-vxlan.json",
    ]);
  });

  it.each(names)("%s loads, names its schema and meets its expectations", async (name) => {
    const loaded = await loadScenario(read(name));
    expect(loaded.scenario.$schema).toBe("../schema/scenario-1.schema.json");
    expect(loaded.frames.length > 0).toBe(loaded.scenario.expect !== undefined);
    loaded.run();
    expect(loaded.failures()).toEqual([]);
    expect(loaded.disagreements).toEqual([]);
    expect(loaded.tally.all.frames).toBe(loaded.frames.length);
  });

  it.each([
    ["from port 4500 to another one", 4500, 40000],
    ["to port 4500 from another one", 40000, 4500],
  ])(
    "strongSwan behind a NAT: what goes %s is ESP, IKE or a keep-alive as before",
    async (_name, source, destination) => {
      const [plain, nat] = [
        await loadScenario(read("flows-strongswan.json")),
        await loadScenario(read("flows-strongswan.json")),
      ];
      const results = new Map<string, number>();
      const check = (bytes: Uint8Array): void => {
        const other = bytes.slice();
        const ports = new DataView(other.buffer);
        ports.setUint16(UDP, source);
        ports.setUint16(UDP + 2, destination);
        // Lengths and addresses stay, and a checksum of 0 is none.
        ports.setUint16(UDP + 6, 0);
        const [one, two] = [plain.device.receive(1, bytes), nat.device.receive(1, other)];
        const queue = one.to[0]?.name ?? "none";
        expect([two.verdict, two.reason, two.to.map(({ name }) => name)]).toEqual([one.verdict, one.reason, [queue]]);
        if (queue !== "qp:ike") expect(two.to[0]?.frame).toEqual(one.to[0]?.frame);
        results.set(queue, (results.get(queue) ?? 0) + 1);
      };
      for await (const frames of readCapture(new Uint8Array(readFileSync(new URL("strongswan.pcap", folder)))))
        for (const { bytes } of frames) {
          check(bytes);
          // The same peers' keep-alive: UDP of one byte.
          const keepAlive = Uint8Array.from([...bytes.subarray(0, UDP), ...[0x11, 0x94, 0x11, 0x94, 0, 9, 0, 0], 0xff]);
          new DataView(keepAlive.buffer).setUint16(16, keepAlive.length - 14);
          check(keepAlive);
        }
      expect([results.get("qp:from a"), results.get("qp:from b")].every((count) => (count ?? 0) > 10)).toBe(true);
      expect([...results.values()].reduce((sum, count) => sum + count)).toBe(102);
    },
  );

  it("are listed", () => {
    const listed = [...read("README.md").matchAll(/^\| \[(\S+\.json)\]\(\1\)/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual([...names].sort());
  });

  it.each(names.filter((name) => /^(?:rules|rss|state)\b/.test(name)))(
    "%s runs on a ConnectX-6 Dx too",
    async (name) => {
      const document = JSON.parse(read(name)) as { device: object };
      const loaded = await loadScenario({ ...document, device: { ...document.device, profile: "connectx6dx" } });
      loaded.run();
      expect(loaded.failures()).toEqual([]);
    },
  );

  it("everyday.json sorts everyday.pcap", async () => {
    const { tally, rules, counters } = await runEveryday();
    const ends = tally.ends.map(({ to, verdict, reason, missed, frames }) => {
      const tables = missed.map(({ domain, table }) => ` ${domain}/${table}`).join("");
      return [to ?? `${verdict} ${String(reason)}${tables}`, frames];
    });
    expect(Object.fromEntries(ends)).toEqual({
      "qp:web": 24,
      "qp:control": 17,
      "qp:mail": 12,
      "qp:slow": 10,
      "qp:tenant-blue": 4,
      "qp:dns": 2,
      "miss default_miss": 7,
      "drop table_miss nic_rx/services": 6,
      "drop table_miss nic_rx/overlay": 1,
      "drop drop_action": 2,
      "miss no_rule nic_rx/root": 1,
    });
    expect([...rules.values()].filter((rule) => tally.rule(rule).frames === 0).map(({ name }) => name)).toEqual([
      "telnet",
    ]);
    expect(counters.get("web-frames")?.read()).toEqual({ packets: 24n, bytes: 12_666n });
  });

  it("flows-strongswan.json opens strongswan.pcap to what the peers said", async () => {
    const captures = new URL("../captures/", import.meta.url);
    const [wire, clear] = ["wire", "clear"].map((one) => `esp-strongswan-aes128gcm16.${one}.pcap`);
    const shipped = readFileSync(new URL("strongswan.pcap", folder));
    expect(shipped.equals(readFileSync(new URL(wire!, captures)))).toBe(true);
    const loaded = await loadScenario(read("flows-strongswan.json"));
    const opened: string[] = [];
    for await (const frames of readCapture(new Uint8Array(shipped))) {
      for (const { to } of loaded.run(frames)) {
        // Ethernet is the frame's own; the capture of what was said has raw IP.
        for (const { name, frame } of to) if (name !== "qp:ike") opened.push(Buffer.from(frame).toString("hex", 14));
      }
    }
    const said: string[] = [];
    for await (const frames of readCapture(new Uint8Array(readFileSync(new URL(clear!, captures))))) {
      said.push(...frames.map(({ bytes }) => Buffer.from(bytes).toString("hex")));
    }
    expect(said.length).toBe(47);
    expect(opened).toEqual(said);
    expect(loaded.tally.rule(loaded.flows.get("a to b")!).frames).toBe(24);
  });

  it("everyday.pcap is what scripts/make-sample.mjs makes, in ascending time", async () => {
    const shipped = readFileSync(new URL("everyday.pcap", folder));
    const made = join(mkdtempSync(join(tmpdir(), "flowsteer-sample-")), "everyday.pcap");
    execFileSync(process.execPath, ["--import", "tsx", "scripts/make-sample.mjs", made], {
      cwd: new URL("..", folder),
    });
    expect(readFileSync(made).equals(shipped)).toBe(true);
    rmSync(dirname(made), { recursive: true });
    let last = 0n;
    for await (const frames of readCapture(new Uint8Array(shipped))) {
      for (const { time, linkType } of frames) {
        expect(linkType).toBe(1);
        expect(time).toBeGreaterThanOrEqual(last);
        last = time ?? last;
      }
    }
  });
});
