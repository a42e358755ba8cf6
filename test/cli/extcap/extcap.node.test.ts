/** flowsteer extcap: what Wireshark asks, and the captures that it gets. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { Client } from "../serve/support/client.js";
import { Served, SWITCH, tcpFrame, UdpPeer } from "../serve/support/served.js";
import { blocksOf, commentsOf } from "../../packet/support/blocks.js";
import { flowsteer, root, scratch, start, type Ended } from "../support/command.js";

const SCENARIO = join(root, "examples/everyday.json");
const CAPTURE = join(root, "examples/everyday.pcap");

const asks = (...args: string[]): Promise<Ended> => flowsteer(["extcap", ...args]);

function comments(file: Uint8Array): string[][] {
  return blocksOf(file).flatMap((one) => (one.type === 6 ? [commentsOf(one)] : []));
}

function pipe(name: string): string {
  const path = scratch(name);
  execFileSync("mkfifo", [path]);
  return path;
}

describe("what Wireshark asks", () => {
  it("lists interfaces, link types and fields", async () => {
    const { out } = await asks("--extcap-interfaces", "--extcap-version=4.0");
    expect(out).toMatch(/^extcap \{version=\d+\.\d+\.\d+\}\n/);
    const names = [...out.matchAll(/^interface \{value=([\w-]+)\}\{display=[^{}]+\}$/gm)].map(([, name]) => name);
    expect(names).toEqual(["flowsteer-serve", "flowsteer-run"]);
    for (const name of names as string[]) {
      expect((await asks("--extcap-dlts", "--extcap-interface", name)).out).toBe(
        "dlt {number=1}{name=EN10MB}{display=Ethernet}\n",
      );
      const { out: fields } = await asks("--extcap-config", "--extcap-interface", name);
      expect(fields).toMatch(/^(arg \{number=\d\}\{call=--[a-z]+\}\{display=[^{}]+\}(\{[^{}]+\})+\n)+$/);
    }
    const filter = ["--extcap-interface", "flowsteer-run", "--extcap-capture-filter", "tcp"];
    expect((await asks(...filter)).out).toContain("use a display filter");
  });

  it.each([
    [[], "extcap --install FOLDER"],
    [["more"], "takes only options"],
    [["--extcap-dlts"], "extcap --install FOLDER"],
    [["--extcap-interface", "flowsteer-run"], "needs --capture, --extcap-dlts or --extcap-config"],
    [["--extcap-config", "--extcap-interface", "eth0"], "one of flowsteer-serve, flowsteer-run"],
    [["--capture", "--extcap-interface", "flowsteer-run"], "--fifo"],
    [["--capture", "--extcap-interface", "flowsteer-run", "--fifo", "x"], "--scenario"],
    [["--capture", "--extcap-interface", "flowsteer-serve", "--fifo", "x"], "--control"],
    [["--capture", "--extcap-interface", "flowsteer-run", "--extcap-capture-filter", "tcp"], "use a display filter"],
    [["--capture", "--extcap-interface", "flowsteer-serve", "--fifo", "x", "--control", "none"], "cannot connect: "],
    [["--install", "none"], "the folder does not exist"],
  ])("refuses %j", async (args, message) => {
    const { code, err } = await asks(...args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
  });
});

it("puts itself into an extcap folder", async () => {
  const folder = scratch("it's extcap");
  mkdirSync(folder);
  for (let i = 0; i < 2; i++) expect(await asks("--install", folder)).toMatchObject({ code: 0, err: "" });
  const program = join(folder, "flowsteer");
  expect(execFileSync(program, ["--extcap-interfaces"], { encoding: "utf8" })).toContain("flowsteer-serve");
  writeFileSync(program, "another");
  expect(await asks("--install", folder)).toMatchObject({
    code: 2,
    err: expect.stringContaining("another program") as string,
  });
  expect(readFileSync(program, "utf8")).toBe("another");
});

it("captures frames through a scenario", async () => {
  const fifo = pipe("run.fifo");
  const written = scratch("annotated.pcapng");
  await flowsteer(["run", SCENARIO, CAPTURE, "--quiet", "--annotate", written]);
  const read = buffer(createReadStream(fifo));
  const args = ["--scenario", SCENARIO, "--frames", CAPTURE, "--port", "1"];
  const ended = await asks("--capture", "--extcap-interface", "flowsteer-run", "--fifo", fifo, ...args);
  expect(ended).toEqual({ code: 0, out: "", err: "" });
  expect(await read).toEqual(readFileSync(written));
});

describe("the frames of a served device", () => {
  const frame = (from: number, port: number): string => tcpFrame(from, 2, port).toString("hex");

  async function capturing(name: string): Promise<{
    served: Served;
    client: Client;
    peer: UdpPeer;
    args: string[];
    fifo: string;
  }> {
    const control = scratch(`${name}.sock`);
    const peer = await UdpPeer.open();
    const served = await Served.start(SWITCH, "--control", `unix:${control}`, "--wire", `uplink=${peer.wire}`);
    const fifo = pipe(`${name}.fifo`);
    const args = ["--capture", "--extcap-interface", "flowsteer-serve", "--fifo", fifo, "--control", control];
    return { served, client: await Client.open(control), peer, args, fifo };
  }

  it("come with their verdicts, until the device ends", async () => {
    const { served, client, peer, args, fifo } = await capturing("steered");
    const ended = asks(...args);
    const chunks: Buffer[] = [];
    const reading = createReadStream(fifo).on("data", (chunk) => chunks.push(chunk as Buffer));
    await once(reading, "data");
    // The header has come, so the subscription is on its way: a frame that is seen shows that it is there.
    const packets = (): number => blocksOf(Buffer.concat(chunks)).filter(({ type }) => type === 6).length;
    while (packets() === 0) {
      await client.result("send", { queue: "vm1", frame: frame(1, 80) });
      await wait(20);
    }
    await client.result("receive", { frame: frame(9, 23) });
    const before = BigInt(Date.now()) * 1_000_000n;
    await peer.send(tcpFrame(9, 1, 80), await served.portOf("port:1"));
    while (!Buffer.concat(chunks).includes('"to vm1"')) await once(reading, "data");
    peer.close();
    await served.end();
    expect(await ended).toEqual({ code: 0, out: "", err: "" });
    const file = Buffer.concat(chunks);
    const all = comments(file);
    expect(all[0]).toEqual(['flowsteer: deliver to qp:vm2; rules "all", "to vm2", "all of vm2"']);
    expect(all.slice(-2)).toEqual([
      ['flowsteer: drop: action drop; rules "all", "no telnet"'],
      ['flowsteer: deliver to qp:vm1; rules "all", "to vm1", "all of vm1"'],
    ]);
    const saved = scratch("steered.pcapng", file);
    const rows = tshark(saved, ["frame.interface_name", "frame.time_epoch", "tcp.dstport", "frame.comment"]);
    if (rows === null) return;
    expect(rows.map(([name, , port]) => `${name} ${port}`).slice(-3)).toEqual(["qp:vm1 80", "port:1 23", "port:1 80"]);
    expect(rows.map(([, , , comment]) => comment)).toEqual(all.map(([comment]) => comment));
    const seconds = Number(rows.at(-1)?.[1]);
    expect(Math.abs(seconds - Number(before / 1_000_000n) / 1000)).toBeLessThan(600);
  });

  it("say that their pipe cannot be written", async () => {
    const { served, client, peer, args, fifo } = await capturing("unwritable");
    const elsewhere = args.map((one) => (one === fifo ? scratch("none/fifo") : one));
    expect(await asks(...elsewhere)).toMatchObject({ code: 2, err: expect.stringContaining("none/fifo") as string });
    client.socket.destroy();
    peer.close();
    await served.end();
  });

  it("end with a signal while nobody reads their pipe", async () => {
    const { served, client, peer, args } = await capturing("unread");
    // A signal before the command hears it ends the process.
    let ended: unknown[] = [null, "SIGTERM"];
    for (let patience = 500; ended[1] === "SIGTERM" && patience < 60_000; patience *= 2) {
      const child = start(["extcap", ...args]);
      const closed = once(child, "close");
      await wait(patience);
      child.kill("SIGTERM");
      ended = await closed;
    }
    expect(ended).toEqual([0, null]);
    client.socket.destroy();
    peer.close();
    await served.end();
  });

  it.each(["signal", "reader"])("end with a %s", async (end) => {
    const { served, client, peer, args, fifo } = await capturing(`ends-${end}`);
    const child = start(["extcap", ...args]);
    const closed = once(child, "close");
    const reading = createReadStream(fifo);
    await once(reading, "data");
    if (end === "signal") child.kill("SIGTERM");
    else reading.destroy();
    // The writer learns from its next frame that the reader is gone.
    const more = setInterval(() => void client.call("receive", { frame: frame(9, 23) }).catch(() => null), 50);
    expect(await closed).toEqual([0, null]);
    clearInterval(more);
    reading.destroy();
    peer.close();
    await served.end();
  });
});

/** Fields of frames as tshark reads them; null without it. */
function tshark(file: string, fields: readonly string[]): string[][] | null {
  if (!hasTshark) return null;
  const args = ["-r", file, "-T", "fields", ...fields.flatMap((field) => ["-e", field])];
  const out = execFileSync("tshark", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
}

const hasTshark = spawnSync("tshark", ["--version"]).status === 0;
if (!hasTshark) console.warn("captures of flowsteer extcap are not read by tshark: no tshark");

/** tshark takes no other extcap folder from root: it runs as another user. */
const isRoot = process.getuid?.() === 0;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const asUser = (...command: string[]): [string, string[]] => {
  const [file = "", ...args] = isRoot ? [...NOBODY, ...command] : command;
  return [file, args];
};
/** Node.js can be in a folder of root too. A shell asks: setpriv itself still starts programs with root's rights. */
const RUNS = 'test -r "$0" && "$1" --version';
const runsProject = (): boolean =>
  spawnSync(...asUser("sh", "-c", RUNS, join(root, "dist/cli.js"), process.execPath)).status === 0;
const canCapture = hasTshark && runsProject();
if (hasTshark && !canCapture)
  console.warn("tshark does not capture from flowsteer extcap: no other user reads this folder and runs this Node.js");

describe.runIf(canCapture)("in tshark", () => {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-extcap-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const shark = (...args: string[]): string => {
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, WIRESHARK_EXTCAP_DIR: folder };
    return execFileSync(...asUser("tshark", ...args), { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] });
  };

  it("is listed, and captures", async () => {
    execFileSync("chmod", ["755", folder]);
    await asks("--install", folder);
    expect(statSync(join(folder, "flowsteer")).mode & 0o777).toBe(0o755);
    expect(shark("-D")).toMatch(/flowsteer-serve \(flowsteer: frames of a served device\)/);
    const options = { scenario: SCENARIO, frames: CAPTURE };
    const preferences = Object.entries(options).flatMap(([name, value]) => [
      "-o",
      `extcap.flowsteer_run.${name}:${value}`,
    ]);
    const out = shark("-i", "flowsteer-run", ...preferences, "-T", "fields", "-e", "frame.comment");
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(86);
    for (const line of lines) expect(line).toMatch(/^flowsteer: (deliver|drop|miss)/);
  });
});
