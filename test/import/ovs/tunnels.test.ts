/** Tunnels of the datapath, by frames: options of Geneve, GRE, headers that come off and go on; and stacks of labels. */
import { describe, expect, it } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { loadBridge, steer } from "./support/steer.js";

const map = { 1: "uplink", 2: "vf1", 3: "vf2" };

function imported(text: string) {
  const { scenario, findings } = importRules(text, { lenient: true, map });
  if (scenario === null) throw new Error("a lenient import has a scenario");
  return { scenario, said: findings.map(printFinding) };
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const inside = buildFrame([
  { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" },
  { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
  { header: "udp", source_port: 7, destination_port: 8 },
]);

function wrapped(...own: Layer[]): string {
  return hex(
    buildFrame([
      { header: "ethernet", destination: "02:00:00:00:00:11", source: "02:00:00:00:00:22" },
      { header: "ipv4", source: "192.0.2.2", destination: "192.0.2.1" },
      ...own,
      { header: "payload", bytes: inside },
    ]),
  );
}

const geneve = (data: string | undefined, vni = 9, type = 0x80): string =>
  wrapped(
    { header: "udp", source_port: 40000, destination_port: 6081, checksum: 0 },
    {
      header: "geneve",
      vni,
      protocol_type: 0x6558,
      ...(data === undefined ? {} : { options: [{ class: 0x102, type, data }] }),
    },
  );

const ABOUT = "packets:1, bytes:80, used:0.1s, actions:";
const REST = "eth(),eth_type(0x0800),ipv4(frag=no)";

describe("options of Geneve", () => {
  const flow = (option: string, port = "4"): string =>
    `tunnel(tun_id=0x9,src=192.0.2.2,dst=192.0.2.1,tp_dst=6081,geneve(${option}),flags(+key)),recirc_id(0),in_port(${port}),${REST}, ${ABOUT}2`;
  const OPTION = "{class=0x102,type=0x80,len=4,0x10002/0x7fffffff}";

  it("matches the bits of an option, and says which port is taken for a tunnel", async () => {
    const { scenario, said } = imported(flow(OPTION));
    expect(said).toEqual([expect.stringContaining("port 4 is a tunnel of type geneve: its flows match one")]);
    const loaded = await loadBridge(scenario);
    expect(steer(loaded, ["1", geneve("00010002")])).toEqual([["2", hex(inside)]]);
    // The highest bit is masked out.
    expect(steer(loaded, ["1", geneve("80010002")])).toEqual([["2", hex(inside)]]);
    expect(steer(loaded, ["1", geneve("00010003")])).toEqual([]);
    expect(steer(loaded, ["1", geneve(undefined)])).toEqual([]);
    expect(steer(loaded, ["1", geneve("00010002", 8)])).toEqual([]);
  });

  it("asks for an option whose data is masked out", async () => {
    const { scenario } = imported(flow("{class=0x102/0xffff,type=0x80/0xff,len=4,0/0}", "genev_sys_6081"));
    const loaded = await loadBridge(scenario);
    expect(steer(loaded, ["1", geneve("01020304")])).toEqual([["2", hex(inside)]]);
    expect(steer(loaded, ["1", geneve(undefined)])).toEqual([]);
  });

  it.each([
    ["{class=0x102,type=0x80,len=8,0x1000200000000}", "the device matches options of four bytes"],
    [`${OPTION}{class=0x102,type=0x81,len=4,0x1}`, "the device looks for one option of Geneve"],
    ["{class=0x102,type=0x80/0x7f,len=4,0x1}", "options of one class, type and length"],
  ])("refuses %s", (option, reason) => {
    expect(imported(flow(option)).said).toContainEqual(expect.stringContaining(reason));
  });

  it("writes options", async () => {
    const { scenario, said } = imported(
      `port 4: genev_sys_6081 (geneve: packet_type=ptap)
recirc_id(0),in_port(2),${REST}, ${ABOUT}set(tunnel(tun_id=0x9,src=192.0.2.1,dst=192.0.2.2,ttl=64,tp_dst=6081,geneve({class=0x102,type=0x80,len=8,0x1000200000003}{class=0x103,type=0x1,len=4,0xa}),flags(df|key))),4`,
    );
    expect(said.filter((one) => !one.includes("the text does not say the MAC address"))).toEqual([]);
    const [out] = steer(await loadBridge(scenario), ["2", hex(inside)]);
    // After Ethernet, IPv4 and UDP: five words of options, one of them critical; Ethernet inside; the key; the options.
    expect(out?.[1].slice(84)).toBe(`0540655800000900${"0102800200010002000000030103010" + "10000000a"}${hex(inside)}`);
  });
});

describe("GRE", () => {
  const gre = (key?: number): string =>
    wrapped({ header: "gre", protocol_type: 0x6558, ...(key === undefined ? {} : { key }) });

  it("takes the port of its name for a tunnel, with and without a key", async () => {
    const { scenario, said } = imported(
      `tunnel(tun_id=0x7,src=192.0.2.2,dst=192.0.2.1,flags(-df-csum+key)),recirc_id(0),in_port(gre_sys),${REST}, ${ABOUT}2
tunnel(src=192.0.2.2,dst=192.0.2.1,flags(-df-csum)),recirc_id(0),in_port(gre_sys),eth(),eth_type(0x0806), ${ABOUT}3`,
    );
    expect(said).toEqual([]);
    const loaded = await loadBridge(scenario);
    expect(steer(loaded, ["1", gre(7)])).toEqual([["2", hex(inside)]]);
    expect(steer(loaded, ["1", gre(8)])).toEqual([]);
    expect(steer(loaded, ["1", gre()])).toEqual([]);
  });

  it.each([
    ["tun_id=0x7,", "20006558" + "00000007"],
    ["", "00006558"],
  ])("puts its header on: %s", async (key, bytes) => {
    const { scenario } = imported(
      `recirc_id(0),in_port(2),${REST}, ${ABOUT}set(tunnel(${key}src=192.0.2.1,dst=192.0.2.2,ttl=64,flags(df))),gre_sys
tunnel(src=192.0.2.2,dst=192.0.2.1),recirc_id(0),in_port(gre_sys),${REST}, ${ABOUT}2`,
    );
    const [out] = steer(await loadBridge(scenario), ["2", hex(inside)]);
    expect(out?.[0]).toBe("1");
    expect(out?.[1].slice(68)).toBe(bytes + hex(inside));
  });

  it.each([
    ["gre((flags=0x2000,proto=0x6558),key=0x1e240)", "200065580001e240"],
    ["gre((flags=0x0,proto=0x6558))", "00006558"],
    ["geneve(oam,vni=0x7,options({class=0x102,type=0x80,len=4,0xa}))", "028065580000070001028001" + "0000000a"],
  ])("puts on the headers of tnl_push: %s", async (own, bytes) => {
    const udp = own.startsWith("geneve") ? ",udp(src=0,dst=6081,csum=0x0)" : "";
    const ip = `ipv4(src=192.0.2.1,dst=192.0.2.2,proto=${udp === "" ? 47 : 17},tos=0,ttl=64,frag=0x4000)`;
    const header = `header(size=42,type=3,eth(dst=02:00:00:00:00:22,src=02:00:00:00:00:11,dl_type=0x0800),${ip}${udp},${own})`;
    const { scenario, said } = imported(
      `recirc_id(0),in_port(2),${REST}, ${ABOUT}tnl_push(tnl_port(4),${header},out_port(1)),1`,
    );
    expect(said).toEqual([]);
    const [out] = steer(await loadBridge(scenario), ["2", hex(inside)]);
    expect(out?.[1].slice(udp === "" ? 68 : 84)).toBe(bytes + hex(inside));
  });
});

describe("tnl_pop", () => {
  const UNDERLAY = `recirc_id(0),in_port(1),eth(dst=02:00:00:00:00:11),eth_type(0x0800),ipv4(dst=192.0.2.1,proto=17,frag=no),udp(dst=6081), ${ABOUT}tnl_pop(genev_sys_6081)`;
  const OVERLAY = `tunnel(tun_id=0x9,src=192.0.2.2,dst=192.0.2.1,tp_dst=6081,flags(+key)),recirc_id(0),in_port(genev_sys_6081),${REST}, ${ABOUT}3`;

  it("leads to the flows of the tunnel port", async () => {
    const { scenario, said } = imported(`${UNDERLAY}\n${OVERLAY}`);
    expect(said).toEqual([]);
    const loaded = await loadBridge(scenario);
    const frame = geneve(undefined);
    expect(steer(loaded, ["1", frame])).toEqual([["3", hex(inside)]]);
    // What the bridge below does not lead there does not come there.
    expect(steer(loaded, ["1", frame.replace(/^020000000011/, "020000000012")])).toEqual([]);
  });

  it("refuses it where the port is none, or where more is done behind it", () => {
    expect(imported(UNDERLAY.replace("genev_sys_6081", "5")).said).toContainEqual(
      expect.stringContaining("the text does not say that port 5 is a tunnel"),
    );
    expect(imported(`${UNDERLAY},2\n${OVERLAY}`).said).toContainEqual(
      expect.stringContaining("not imported: tnl_pop(genev_sys_6081)"),
    );
  });
});

describe("MPLS", () => {
  const stack = (...entries: readonly (readonly [label: number, bottom: number])[]): string =>
    hex(
      buildFrame([
        { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" },
        ...entries.map(([label, bottom]) => ({ header: "mpls", label, exp: 3, s_bos: bottom, ttl: 64 }) as const),
        { header: "payload", bytes: new Uint8Array(40) },
      ]),
    );

  it.each(["mpls(label=22/0xfffff,tc=3/7,ttl=64/0x0,bos=1/1)", "mpls(lse0=0x16740/0xffffff00,lse1=0/0)"])(
    "matches the first entry: %s",
    async (key) => {
      const { scenario, said } = imported(
        `recirc_id(0),in_port(2),eth_type(0x8847),${key.replace("0x16740", `0x${((22 << 12) | (3 << 9) | 256).toString(16)}`)}, ${ABOUT}3`,
      );
      expect(said).toEqual([]);
      const loaded = await loadBridge(scenario);
      expect(steer(loaded, ["2", stack([22, 1])])).toHaveLength(1);
      expect(steer(loaded, ["2", stack([23, 1])])).toEqual([]);
      expect(steer(loaded, ["2", stack([22, 0], [5, 1])])).toEqual([]);
    },
  );

  it.each([
    ["mpls(lse0=0x16140,lse1=0x5140/0xfffff000)", "3", "the first entry of a stack of labels"],
    ["mpls(label=1)", "push_eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),3", "have an Ethernet header"],
    ["mpls(label=1)", "pop_eth,3", "have an Ethernet header"],
    ["mpls(label=1)", "set(mpls(label=2)),3", "the device does not change mpls_label"],
  ])("refuses %s, actions:%s", (key, actions, reason) => {
    expect(imported(`recirc_id(0),in_port(2),eth_type(0x8847),${key}, ${ABOUT}${actions}`).said).toEqual([
      expect.stringContaining(reason),
    ]);
  });
});
