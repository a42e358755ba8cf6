/** Queues of scenarios over which frames are spread: work queues, indirection tables, RQTs, TIRs. */
import { describe, expect, it } from "vitest";
import { refusal, run } from "./support/scenarios.js";

/** Microsoft's key, and its examples of hashes: addresses and ports, the hash of both, the hash of the addresses alone. */
const KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
const EXAMPLES = [
  ["66.9.149.187", 2794, "161.142.100.80", 1766, 0x51ccc178, 0x323e8fc2],
  ["199.92.111.2", 14230, "65.69.140.83", 4739, 0xc626b0ea, 0xd718262a],
  ["24.19.198.95", 12898, "12.22.207.184", 38024, 0x5c2b394a, 0xd2d0a5de],
  ["38.27.205.30", 48228, "209.142.163.6", 2217, 0xafc7327f, 0x82989176],
  ["153.39.163.191", 44251, "202.188.127.2", 1303, 0x10e828a2, 0x5d1809c5],
] as const;

const FRAMES = EXAMPLES.map(([source, source_port, destination, destination_port]) => ({
  headers: [
    { header: "ethernet" },
    { header: "ipv4", source, destination },
    { header: "tcp", source_port, destination_port },
  ],
}));

const NAMES = ["q0", "q1", "q2", "q3"];

const withQueues = (action: object, more: object): Record<string, unknown> => ({
  flowsteer: 1,
  device: { vports: 1 },
  queues: NAMES.map((name) => ({ name })),
  tables: [{ name: "root", level: 0 }],
  rules: [{ name: "all", table: "root", actions: [{ tag: 3 }, action] }],
  frames: FRAMES,
  ...more,
});

const rss = (more: object = {}): object => ({
  rqts: [{ name: "four", queues: NAMES }],
  tirs: [{ name: "rss", rqt: "four", rx_hash_fn: "toeplitz", rx_hash_toeplitz_key: KEY, ...more }],
});
const BOTH = { rx_hash_field_selector_outer: { selected_fields: ["src_ip", "dst_ip", "l4_sport", "l4_dport"] } };
const ADDRESSES = { rx_hash_field_selector_outer: { selected_fields: ["src_ip", "dst_ip"] } };

describe("TIRs", () => {
  it.each([
    ["addresses and ports", BOTH, 4],
    ["addresses", ADDRESSES, 5],
  ] as const)("spread by the hash of %s", async (_, fields, hash) => {
    const [, records] = await run(withQueues({ tir: "rss" }, rss(fields)));
    expect(records.map(({ to }) => to)).toEqual(EXAMPLES.map((example) => [`qp:q${example[hash] % 4}`]));
    expect(records.map(({ toTags }) => toTags)).toEqual(EXAMPLES.map(() => [3]));
  });

  it("ask the fields of their own versions and protocols, and are symmetric on demand", async () => {
    const six = { l3_prot_type: "ipv6", l4_prot_type: "udp", selected_fields: ["src_ip", "l4_dport"] };
    const [, other] = await run(withQueues({ tir: "rss" }, rss({ rx_hash_field_selector_outer: six })));
    expect(new Set(other.map(({ to }) => to[0])).size).toBe(1);
    const back = FRAMES.map(({ headers: [ethernet, ip, tcp] }) => {
      const { source, destination } = ip as { source: string; destination: string };
      const ports = tcp as { source_port: number; destination_port: number };
      const turned = { source_port: ports.destination_port, destination_port: ports.source_port };
      return { headers: [ethernet, { ...ip, source: destination, destination: source }, { ...tcp, ...turned }] };
    });
    const directions = async (rx_hash_symmetric: boolean): Promise<boolean> => {
      const document = withQueues(
        { tir: "rss" },
        { ...rss({ ...BOTH, rx_hash_symmetric }), frames: [...FRAMES, ...back] },
      );
      const [, records] = await run(document);
      return FRAMES.every((_, i) => records[i]?.to[0] === records[FRAMES.length + i]?.to[0]);
    };
    expect(await directions(true)).toBe(true);
    expect(await directions(false)).toBe(false);
  });

  it("give every frame to the first queue without a hash, and to one queue where they have one", async () => {
    const [, plain] = await run(withQueues({ tir: "rss" }, rss({ rx_hash_fn: "none" })));
    expect(plain.map(({ to }) => to)).toEqual(FRAMES.map(() => ["qp:q0"]));
    const [, direct] = await run(withQueues({ tir: "one" }, { tirs: [{ name: "one", queue: "q2" }] }));
    expect(direct.map(({ to }) => to)).toEqual(FRAMES.map(() => ["qp:q2"]));
  });

  it("are shared, and members of arrays", async () => {
    const array = [{ queue: "q0" }, { action: "to it" }];
    const [, records] = await run(
      withQueues(
        { array },
        {
          ...rss(BOTH),
          actions: [{ name: "to it", tir: "rss" }],
          tables: [
            { name: "root", level: 0 },
            { name: "next", level: 1 },
          ],
          rules: [
            { name: "all", table: "root", actions: [{ table: "next" }] },
            { name: "copies", table: "next", actions: [{ array }] },
          ],
        },
      ),
    );
    expect(records.map(({ to }) => to)).toEqual(EXAMPLES.map((one) => ["qp:q0", `qp:q${one[4] % 4}`]));
  });
});

describe("indirection tables", () => {
  const queues = [
    ...NAMES.slice(0, 2).map((name) => ({ name, type: "wq", buffers: 4, bufferSize: 128 })),
    { name: "q2", type: "wq", buffers: 4, state: "reset" },
    { name: "q3", type: "wq", buffers: 4, state: "err" },
    {
      name: "rss",
      rwq_ind_tbl: "four",
      rx_hash_conf: { rx_hash_key: KEY, rx_hash_fields_mask: ["src_ipv4", "dst_ipv4", "src_port_tcp", "dst_port_tcp"] },
    },
  ];
  const indirectionTables = [{ name: "four", ind_tbl: NAMES }];

  it("spread over work queues, whose completions agree", async () => {
    const [loaded, records] = await run(withQueues({ queue: "rss" }, { queues, indirectionTables }));
    const expected = EXAMPLES.map(([, , , , hash]) => (hash % 4 < 2 ? `wq:q${hash % 4}` : "queue_not_ready"));
    expect(records.map(({ to, reason }) => to[0] ?? reason)).toEqual(expected);
    expect(expected).toContain("wq:q0");
    const taken = expected.filter((to) => to === "wq:q0").length;
    expect(loaded.queues.get("q0")?.buffers).toMatchObject({ posted: 4, completed: taken, failed: 0 });
    expect(loaded.queues.get("q2")?.buffers).toMatchObject({ posted: 0 });
    expect(loaded.queues.get("q3")?.buffers).toMatchObject({ posted: 4, failed: 4 });
  });

  it("are behind flows too, and behind TIRs of the same queues", async () => {
    const more = { queues, indirectionTables, rules: [], tables: [] };
    const [, flows] = await run(withQueues({}, { ...more, flows: [{ queue: "rss", specs: [{ tag: 5 }] }] }));
    expect(flows[0]).toMatchObject({ to: ["wq:q0"], toTags: [5] });
    const [, tirs] = await run(
      withQueues({ tir: "one" }, { queues, indirectionTables, tirs: [{ name: "one", queue: "q1" }] }),
    );
    expect(tirs[0]?.to).toEqual(["wq:q1"]);
  });

  it("keep their order in outcomes with a buffer for each frame", async () => {
    const short = queues.map((one) => ("buffers" in one ? { ...one, state: "rdy", buffers: 1, bufferSize: 128 } : one));
    const [, records] = await run(
      withQueues({ queue: "rss" }, { queues: short, indirectionTables, frames: [FRAMES[0], FRAMES[0]] }),
    );
    expect(records.map(({ to, reason }) => to[0] ?? reason)).toEqual(["wq:q0", "no_receive_buffer"]);
  });
});

describe("a refusal of the model", () => {
  const wq = { name: "w", type: "wq", buffers: 1 };
  const conf = { rx_hash_key: KEY, rx_hash_fields_mask: ["src_ipv4"] };
  const spreading = (rx_hash_conf: object): object => ({
    queues: [wq, { name: "s", rwq_ind_tbl: "t", rx_hash_conf }],
    indirectionTables: [{ name: "t", ind_tbl: ["w"] }],
  });
  it.each<[string, object]>([
    ['rqts[0].queues = "3 queues": ', { queues: [{ name: "a" }], rqts: [{ name: "r", queues: ["a", "a", "a"] }] }],
    ['rqts[0].queues = "0 queues": ', { rqts: [{ name: "r", queues: [] }] }],
    [
      'indirectionTables[0].ind_tbl = "3 queues": ',
      { queues: [wq], indirectionTables: [{ name: "t", ind_tbl: ["w", "w", "w"] }] },
    ],
    [
      'rqts[0].queues[1] = "b": ',
      {
        device: { vports: 1 },
        queues: [{ name: "a" }, { name: "b", function: 1 }],
        rqts: [{ name: "r", queues: ["a", "b"] }],
      },
    ],
    [
      'tirs[0].rx_hash_toeplitz_key = "0102": ',
      {
        queues: [{ name: "a" }],
        rqts: [{ name: "r", queues: ["a"] }],
        tirs: [{ name: "t", rqt: "r", rx_hash_toeplitz_key: "0102" }],
      },
    ],
    ['queues[1].rx_hash_conf.rx_hash_key = "00": ', spreading({ ...conf, rx_hash_key: "00" })],
    ['queues[1].rx_hash_conf.rx_hash_key = "zz": ', spreading({ ...conf, rx_hash_key: "zz" })],
    [
      "queues[1].rx_hash_conf.rx_hash_fields_mask = ",
      spreading({ ...conf, rx_hash_fields_mask: ["src_ipv4", "src_ipv6"] }),
    ],
  ])("names its place: %s", async (message, document) => {
    const whole = `loadScenario: ${message}`;
    expect((await refusal({ flowsteer: 1, ...document })).slice(0, whole.length)).toBe(whole);
  });
});
