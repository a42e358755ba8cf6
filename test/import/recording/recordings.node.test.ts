/** Recordings of programs under `flowsteer exec`: each imports, loads, and has its rules in the domains of the program. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { importRules, type ImportResult } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const folder = fileURLToPath(new URL("recordings/", import.meta.url));
const read = (...files: readonly string[]): ImportResult =>
  importRules(
    files.map((file) => ({ file, text: readFileSync(`${folder}${file}`, "utf8") })),
    { lenient: true },
  );
const refusals = ({ findings }: ImportResult): string[] =>
  findings.filter(({ severity }) => severity === "refused").map(({ reason }) => reason);

/** The domains of rules, flows and flows in device bytes. */
function domainsOf({ scenario }: ImportResult): string[] {
  const { tables = [], matchers = [], rules = [], flows = [], deviceFlows = [] } = scenario as Scenario;
  const tableOf = (of: string | undefined): string | undefined => matchers.find(({ name }) => name === of)?.table;
  return [
    ...rules.map((rule) => tables.find(({ name }) => name === tableOf(rule.matcher))?.domain ?? "nic_rx"),
    ...flows.map(({ flags = [] }) => (flags.includes("egress") ? "flow nic_tx" : "flow nic_rx")),
    ...deviceFlows.map(({ ft_type = "nic_rx" }) => `device flow ${ft_type}`),
  ];
}

const RX = "nic_rx";
const TX = "nic_tx";

/** What the tests of rdma-core make. */
const DOMAINS: Readonly<Record<string, readonly string[]>> = {
  test_dest_array: [RX, RX, RX],
  test_dest_ib_port: ["fdb", "fdb", RX],
  test_dest_tir: [RX, RX],
  test_dest_vport: ["fdb", "fdb", RX],
  test_flow_sampler: [RX, RX, RX],
  test_ipv6_spec_flow_traffic: ["flow nic_rx"],
  test_packet_reformat: [TX, RX, RX],
  test_pop_vlan: [RX, RX],
  test_prevent_duplicate_rule: [RX],
  test_push_vlan: [TX, TX, RX, RX],
  test_root_tbl_drop_action: [RX, TX],
  test_smac_matcher_to_qp_flow: ["device flow nic_rx"],
  test_tbl_counter_action: [RX, RX],
  test_tbl_modify_header_rule: [TX, RX, RX],
  test_tx_def_miss_action: [TX, TX, RX, RX, TX],
  // An EGRESS flow, and the one that receives its frames.
  test_tx_packet_reformat: ["device flow nic_tx", "device flow nic_rx"],
};

describe("tests of rdma-core", () => {
  test.each(readdirSync(`${folder}rdma-core`))("%s", async (file) => {
    const imported = read(`rdma-core/${file}`);
    expect(refusals(imported)).toEqual([]);
    await loadScenario(imported.scenario as Scenario);
    expect(domainsOf(imported)).toEqual(DOMAINS[file.replace(".jsonl", "")]);
  });
});

const udp = (port: number): Uint8Array =>
  buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: port }]);

/** Where frames to UDP ports are delivered. */
async function deliveries({ scenario }: ImportResult, ...ports: readonly number[]): Promise<(string | undefined)[]> {
  const loaded = await loadScenario(scenario as Scenario);
  return ports.map((port) => loaded.run([{ bytes: udp(port) }])[0]?.to[0]?.name);
}

describe("programs of other kinds", () => {
  test("a queue pair with an indirection table has RSS", async () => {
    const imported = read("kinds/rss.jsonl");
    expect(refusals(imported)).toEqual([]);
    expect(imported.scenario?.indirectionTables).toEqual([{ name: "indirection table", ind_tbl: ["rq 1", "rq 2"] }]);
    expect(imported.scenario?.queues?.find(({ name }) => name === "qp 3")).toMatchObject({
      rwq_ind_tbl: "indirection table",
      rx_hash_conf: { rx_hash_fields_mask: ["src_ipv4", "dst_ipv4", "src_port_udp", "dst_port_udp"] },
    });
    const [to] = await deliveries(imported, 1000);
    expect(to).toMatch(/^wq:rq [12]$/);
  });

  test("what is on a second device is refused", async () => {
    const imported = read("kinds/devices.jsonl");
    expect(refusals(imported)).toEqual(["it is on the device flowsteer1, and the scenario has the device flowsteer0"]);
    expect(await deliveries(imported, 1000, 2000)).toEqual(["qp:qp 1", undefined]);
  });

  test("each process of a fork has its own objects", async () => {
    const imported = read("kinds/fork.jsonl", "kinds/fork-child.jsonl");
    expect(refusals(imported)).toEqual([
      "its queue pair is not in the recording: another process made it, or it was made before the recording began",
    ]);
    expect(await deliveries(imported, 1000, 2000, 3000)).toEqual(["qp:qp 1", "qp:qp 2", undefined]);
  });

  test("processes that wrote the same file one after the other", async () => {
    const text = ["fork", "fork-child"].map((name) => readFileSync(`${folder}kinds/${name}.jsonl`, "utf8")).join("");
    const imported = importRules(text, { lenient: true });
    expect(refusals(imported)).toHaveLength(1);
    expect(imported.findings[0]?.reason).toBe("another process: its rules are added to those of the other processes");
    expect(await deliveries(imported, 1000, 2000)).toEqual(["qp:qp 1", "qp:qp 2"]);
  });

  test("a flow that is destroyed before the program is killed is gone", async () => {
    const imported = read("kinds/killed.jsonl");
    expect(imported.findings).toEqual([]);
    expect(await deliveries(imported, 1000, 2000)).toEqual([undefined, "qp:qp 1"]);
  });
});
