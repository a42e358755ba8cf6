/** flowsteer serve: frames come in and go out by each kind of wire. */
import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream, existsSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { CaptureDecoder, PcapngWriter, PcapWriter } from "../../../src/index.js";
import { flowsteer, scratch, start } from "../support/command.js";
import { bytesOf, frameOf, lengthened, portOf, Served, SWITCH, tcpFrame, UdpPeer } from "./support/served.js";

it("serves rules of another program", async () => {
  const [wire, vm1] = [await UdpPeer.open(), await UdpPeer.open()];
  const rules = scratch(
    "serve.tc",
    "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp dst_port 80 " +
      "action mirred egress redirect dev rep1\n",
  );
  const wires = [`uplink=${wire.wire}`, `vf1=${vm1.wire}`].flatMap((one) => ["--wire", one]);
  const served = await Served.start(rules, "--map", "eth0=uplink,rep1=vf1", ...wires);
  const uplink = await served.portOf("port:1");
  // There is nothing to reload, and nothing ends.
  served.child.kill("SIGHUP");
  await wire.send(tcpFrame(9, 1, 81), uplink);
  await wire.send(tcpFrame(9, 1, 80), uplink);
  expect((await vm1.frames(1))[0]?.equals(tcpFrame(9, 1, 80))).toBe(true);
  const { wires: counts } = await served.end();
  expect(counts.map(({ place, framesIn, framesOut }) => [place, framesIn, framesOut])).toEqual([
    ["port:1", 2, 0],
    ["qp:vf1", 0, 1],
  ]);
});

it("steers frames between UDP wires, and says what it did", async () => {
  const [wire, vm1, vm2] = [await UdpPeer.open(), await UdpPeer.open(), await UdpPeer.open()];
  const wires = [`uplink=${wire.wire}`, `vm1=${vm1.wire}`, `vm2=${vm2.wire}`].flatMap((one) => ["--wire", one]);
  const served = await Served.start(SWITCH, ...wires);
  const [uplink, one, two] = [
    await served.portOf("port:1"),
    await served.portOf("qp:vm1"),
    await served.portOf("qp:vm2"),
  ];
  await vm1.send(frameOf(1, 2, "hello"), one);
  expect((await vm2.frames(1))[0]?.equals(frameOf(1, 2, "hello"))).toBe(true);
  await vm2.send(frameOf(2, 1, "hello yourself"), two);
  expect((await vm1.frames(1))[0]?.equals(frameOf(2, 1, "hello yourself"))).toBe(true);
  await vm1.send(frameOf(1, 9, "out"), one);
  expect((await wire.frames(1))[0]?.equals(frameOf(1, 9, "out"))).toBe(true);
  await wire.send(tcpFrame(9, 1, 23), uplink);
  await wire.send(frameOf(9, 2, "in"), uplink);
  await vm2.frames(2);
  // A queue sends no frame without an Ethernet header.
  await vm1.send(Buffer.alloc(3), one);
  // Frames of others than the peer are lost.
  await vm2.send(frameOf(2, 1), one);
  await vm1.send(frameOf(1, 2, "last"), one);
  await vm2.frames(3);
  const { wires: counts, dropped, signal } = await served.end();
  expect(signal).toBe("SIGTERM");
  expect(dropped).toEqual({ drop_action: { frames: 1, bytes: 60 } });
  expect(counts).toEqual([
    { place: "port:1", framesIn: 2, bytesIn: 120, framesOut: 1, bytesOut: 60, lost: {} },
    { place: "qp:vm1", framesIn: 4, bytesIn: 183, framesOut: 1, bytesOut: 60, lost: { refused: 1, stranger: 1 } },
    { place: "qp:vm2", framesIn: 1, bytesIn: 60, framesOut: 3, bytesOut: 180, lost: {} },
  ]);
  for (const peer of [wire, vm1, vm2]) peer.close();
});

it("steers all frames that have come before a signal", async () => {
  const [from, to] = [await UdpPeer.open(), await UdpPeer.open()];
  const served = await Served.start(SWITCH, "--wire", `vm1=${from.wire}`, "--wire", `vm2=${to.wire}`);
  const port = await served.portOf("qp:vm1");
  for (let i = 0; i < 500; i++) await from.send(frameOf(1, 2, String(i)), port);
  const { wires } = await served.end("SIGINT");
  const [first, second] = wires;
  expect(second?.framesOut).toBe(first?.framesIn);
  expect(first?.framesIn).toBe(500);
  from.close();
  to.close();
});

it("listens for QEMU's stream sockets, one peer at a time, and takes the next one", async () => {
  const path = scratch("uplink.sock");
  const served = await Served.start(
    SWITCH,
    "--wire",
    `uplink=unix-listen:${path}`,
    "--wire",
    "vm1=tcp-listen:127.0.0.1:0",
  );
  const vm1 = connect(await served.portOf("qp:vm1"), "127.0.0.1");
  const talk = async (uplink: Socket, text: string): Promise<void> => {
    const [long, short] = [Buffer.concat([frameOf(9, 1, text), Buffer.alloc(60_000)]), frameOf(9, 1, text)];
    const bytes = Buffer.concat([lengthened(long), lengthened(short)]);
    // Cut anywhere, also in the length.
    uplink.write(bytes.subarray(0, 2));
    uplink.write(bytes.subarray(2, 30_000));
    uplink.write(bytes.subarray(30_000));
    const received = await bytesOf(vm1, bytes.length);
    expect(received.equals(bytes)).toBe(true);
  };
  const first = connect({ path });
  await talk(first, "first");
  const other = connect({ path });
  other.on("error", () => undefined);
  await new Promise((resolve) => other.once("close", resolve));
  await talk(first, "still there");
  first.destroy();
  // The place is free once the first peer is gone.
  for (;;) {
    const next = connect({ path });
    next.on("error", () => undefined);
    next.write(lengthened(frameOf(9, 1, "next")));
    const answer = once(vm1, "data");
    const gone = new Promise<[unknown]>((resolve) => next.once("close", () => resolve([null])));
    const [what] = await Promise.race([answer, gone]);
    if (!Buffer.isBuffer(what)) continue;
    expect(what.equals(lengthened(frameOf(9, 1, "next")))).toBe(true);
    // A length that no frame has ends the connection.
    next.write(Buffer.from([0xff, 0, 0, 0]));
    await gone;
    break;
  }
  vm1.destroy();
  const { wires } = await served.end();
  expect(wires[0]).toMatchObject({ place: "port:1", framesIn: 5, lost: { bad_length: 1 } });
  expect(existsSync(path)).toBe(false);
});

it("lets only its user connect to Unix sockets, whatever the umask", async () => {
  const [path, control] = [scratch("own.sock"), scratch("own-control.sock")];
  const before = process.umask(0);
  try {
    const served = await Served.start(SWITCH, "--wire", `uplink=unix-listen:${path}`, "--control", `unix:${control}`);
    for (const one of [path, control]) expect(statSync(one).mode & 0o777, one).toBe(0o600);
    await served.end();
  } finally {
    process.umask(before);
  }
});

it("takes a peer that connects again at once", async () => {
  const path = scratch("again.sock");
  const to = await UdpPeer.open();
  const served = await Served.start(SWITCH, "--wire", `uplink=unix-listen:${path}`, "--wire", `vm1=${to.wire}`);
  for (let n = 1; n <= 50; n++) {
    const peer = connect({ path });
    peer.write(lengthened(frameOf(9, 1, `hello ${n}`)));
    await to.frames(n);
    peer.destroy();
  }
  const { wires } = await served.end();
  expect(wires[0]).toMatchObject({ place: "port:1", framesIn: 50, lost: {} });
  to.close();
});

it("ends although peers of wires and of the control do not read", async () => {
  const [path, control] = [scratch("deaf.sock"), scratch("control.sock")];
  const from = await UdpPeer.open();
  const options = [
    "--wire",
    `uplink=unix-listen:${path}`,
    "--wire",
    `vm1=${from.wire}`,
    "--control",
    `unix:${control}`,
  ];
  const served = await Served.start(SWITCH, ...options);
  const port = await served.portOf("qp:vm1");
  const deaf = connect({ path });
  deaf.on("error", () => undefined).pause();
  const asking = connect({ path: control });
  asking.on("error", () => undefined).pause();
  await once(asking, "connect");
  const question = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "counters" })}\n`.repeat(20_000);
  asking.write(question);
  // More than a socket holds.
  for (let n = 0; n < 2000; n++) await from.send(Buffer.concat([frameOf(1, 9), Buffer.alloc(1400)]), port);
  const { wires } = await served.end();
  expect(wires[0]?.place).toBe("port:1");
  deaf.destroy();
  asking.destroy();
  from.close();
});

it("connects to stream sockets, also to those that come later, and again", async () => {
  const path = scratch("later.sock");
  const to = await UdpPeer.open();
  const served = await Served.start(SWITCH, "--wire", `uplink=unix:${path}`, "--wire", `vm1=${to.wire}`);
  const port = await served.portOf("qp:vm1");
  await to.send(frameOf(1, 9, "nobody there"), port);
  const server = createServer();
  server.listen(path);
  for (const text of ["once", "again"]) {
    const [peer] = (await once(server, "connection")) as [Socket];
    peer.write(lengthened(frameOf(9, 1, text)));
    await to.frames(text === "once" ? 1 : 2);
    await to.send(frameOf(1, 9, text), port);
    expect((await bytesOf(peer, 64)).equals(lengthened(frameOf(1, 9, text)))).toBe(true);
    peer.destroy();
  }
  server.close();
  const { wires } = await served.end();
  expect(wires[0]).toMatchObject({ framesIn: 2, framesOut: 2, lost: { not_connected: 1 } });
  to.close();
});

it("takes and gives captures by pipes", async () => {
  const [input, output] = [scratch("in.fifo"), scratch("out.fifo")];
  expect(spawnSync("mkfifo", [input, output]).status).toBe(0);
  const served = await Served.start(SWITCH, "--wire", `uplink=pcap:${input}:`, "--wire", `vm1=pcap::${output}`);
  const reader = createReadStream(output);
  const writer = new PcapngWriter({ interfaces: [{ linkType: 1 }] });
  const frames = [frameOf(9, 1, "one"), frameOf(9, 1, "two")];
  let bytes = Buffer.alloc(0);
  const [header] = (await once(reader, "data")) as [Buffer];
  bytes = Buffer.concat([bytes, header]);
  // A pipe has one capture after the other.
  for (const frame of frames) {
    const file = createWriteStream(input);
    file.write(writer.header());
    file.end(writer.frame({ time: 0n, bytes: frame, wireLength: frame.length }));
    const [record] = (await once(reader, "data")) as [Buffer];
    bytes = Buffer.concat([bytes, record]);
  }
  expect(new CaptureDecoder().push(bytes).map((one) => Buffer.from(one.bytes).toString("hex"))).toEqual(
    frames.map((frame) => frame.toString("hex")),
  );
  reader.destroy();
  const { wires } = await served.end();
  expect(wires).toMatchObject([{ framesIn: 2 }, { framesOut: 2 }]);
});

it("takes captures from standard input, and gives them to standard output", async () => {
  const child = start(["serve", SWITCH, "--wire", "uplink=pcap:-:", "--wire", "vm1=pcap::-", "--quiet"]);
  const writer = new PcapWriter({ linkType: 1 });
  const frame = frameOf(9, 1, "piped");
  child.stdin.write(writer.header());
  child.stdin.write(writer.frame({ time: 0n, bytes: frame, wireLength: frame.length }));
  let bytes = Buffer.alloc(0);
  while (bytes.length < 24 + 16 + 60)
    bytes = Buffer.concat([bytes, ...((await once(child.stdout, "data")) as Buffer[])]);
  expect(new CaptureDecoder().push(bytes).map((one) => one.bytes.length)).toEqual([60]);
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
});

it("prints how to plug in, and a summary", async () => {
  const peer = await UdpPeer.open();
  const child = start(["serve", SWITCH, "--wire", `uplink=${peer.wire}`]);
  let err = "";
  for await (const text of child.stderr.setEncoding("utf8") as AsyncIterable<string>) {
    err += text;
    if (err.includes("ready;") && !child.killed) child.kill("SIGTERM");
  }
  const port = /UDP 127\.0\.0\.1:(\d+), peer/.exec(err)?.[1] ?? "";
  expect(err).toContain(
    `  QEMU: -netdev dgram,id=uplink,local.type=inet,local.host=127.0.0.1,local.port=${peer.port},`,
  );
  expect(err).toContain(
    `  TAP: socat TUN,tun-type=tap,iff-no-pi,iff-up,tun-name=uplink UDP4:127.0.0.1:${port},bind=127.0.0.1:${peer.port}\n`,
  );
  expect(err).toMatch(
    /served for \d+\.\d s, ended by SIGTERM\n\nWire +frames in +bytes in +frames out +bytes out +lost\n/,
  );
  peer.close();
});

const refused: [string, () => readonly string[], RegExp][] = [
  ["no scenario", () => [], /name rules: flowsteer serve RULES/],
  ["two scenarios", () => [SWITCH, SWITCH], /name one file of rules/],
  [
    "no kind",
    () => [SWITCH, "--wire", "uplink=fiber:1"],
    /where KIND is one of udp, tcp-listen, tcp, unix-listen, unix, pcap/,
  ],
  ["no peer", () => [SWITCH, "--wire", "uplink=udp:127.0.0.1:1"], /the address of the peer is missing/],
  ["no such place", () => [SWITCH, "--wire", "vm3=unix:x"], /did you mean vm1\? places: uplink, vm1, vm2, portN/],
  ["no such port", () => [SWITCH, "--wire", "port2=unix:x"], /ports of the scenario's device: only 1/],
  ["no such port of four digits", () => [SWITCH, "--wire", "port4095=unix:x"], /ports of the scenario's device/],
  ["a place twice", () => [SWITCH, "--wire", "uplink=unix:x", "--wire", "port1=unix:y"], /port1 already has a wire/],
  [
    "an address elsewhere",
    () => [SWITCH, "--wire", "uplink=tcp-listen:0.0.0.0:1"],
    /0\.0\.0\.0 is not a loopback address; .*--beyond-loopback/,
  ],
  ["a name", () => [SWITCH, "--wire", "uplink=tcp:example.org:1"], /example\.org is not an IP address/],
  ["a port beyond", () => [SWITCH, "--wire", "uplink=tcp:127.0.0.1:70000"], /port 70000: 0 to 65535/],
  ["text after it", () => [SWITCH, "--wire", "uplink=tcp:127.0.0.1:7:8"], /unexpected text after the address: :8/],
  ["a file as a pipe", () => [SWITCH, "--wire", "uplink=pcap:README.md:"], /not a pipe; create one with mkfifo/],
  [
    "no such pipe",
    () => [SWITCH, "--wire", "uplink=pcap:nothing:"],
    /the pipe does not exist; create it with mkfifo nothing/,
  ],
  ["a path in use", () => [SWITCH, "--wire", `uplink=unix-listen:${inUse()}`], /another program listens there/],
  ["a path too long", () => [SWITCH, "--wire", `uplink=unix:${"x".repeat(200)}`], /at most 103 bytes/],
];

/** A file that is no socket. */
function inUse(): string {
  const path = scratch("in-use");
  writeFileSync(path, "");
  return path;
}

it.each(refused)("refuses %s", async (_, args, message) => {
  const { code, out, err } = await flowsteer(["serve", ...args()]);
  expect(err).toMatch(message);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

it("refuses an address that another program has", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { code, err } = await flowsteer([
    "serve",
    SWITCH,
    "--wire",
    `uplink=tcp-listen:127.0.0.1:${portOf(server.address())}`,
  ]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("another program listens there") as string });
  server.close();
});
