// A discrete-event simulator: 16 hosts on a leaf-spine fabric. Leaves carry frames in VXLAN, hosts send RC messages,
// cables between leaves and spines lose frames. It prints the goodput for each loss; a name of a file after the name of
// the program gets a plot of it.
import { writeFileSync } from "node:fs";
import { createDeviceSync } from "flowsteer";
import { createFabric, leafSpine, type FabricNode } from "flowsteer/fabric";
import { loadScenario, type Scenario } from "flowsteer/scenario";
import * as v from "flowsteer/verbs";

const [LEAVES, HOSTS_PER_LEAF, SPINES] = [4, 4, 2];
const HOSTS = LEAVES * HOSTS_PER_LEAF;
const [MESSAGE, MESSAGES] = [16_384, 8];
const EDGE = { delay: 500n, rate: 100e9, queue: 256 };

const hex = (n: number): string => n.toString(16).padStart(2, "0");
const hostMac = (host: number): string => `02:00:00:00:00:${hex(host)}`;
const leafMac = (leaf: number): string => `02:00:00:00:ff:${hex(leaf)}`;
const leafIp = (leaf: number): string => `192.0.2.${leaf + 1}`;

/** A leaf has a port for each host, then one for each spine. */
function leafRules({ name, ports = 1, index: leaf = 0 }: FabricNode): Scenario {
  const hosts = Array.from({ length: HOSTS }, (_, host) => host);
  const isLocal = (host: number): boolean => Math.floor(host / HOSTS_PER_LEAF) === leaf;
  const toHost = (table: string, host: number) => ({
    ...{ name: `${table}: host ${host}`, table, priority: 1, match: { "outer.dmac": hostMac(host) } },
    actions: [{ port: (host % HOSTS_PER_LEAF) + 1 }],
  });
  const remote = (host: number) => {
    const far = Math.floor(host / HOSTS_PER_LEAF);
    const headers = [
      { header: "ethernet" as const, source: leafMac(leaf), destination: leafMac(far) },
      { header: "ipv4" as const, source: leafIp(leaf), destination: leafIp(far) },
      { header: "udp" as const },
      { header: "vxlan" as const, vni: 100 },
    ];
    return {
      ...{ name: `away: host ${host}`, table: "leaf", priority: 1, match: { "outer.dmac": hostMac(host) } },
      actions: [
        { reformat: { type: "l2_to_l2_tunnel" as const, headers } },
        { port: HOSTS_PER_LEAF + 1 + (host % SPINES) },
      ],
    };
  };
  const tunnel = { "outer.dmac": leafMac(leaf), "misc.vxlan_vni": 100 };
  const out = { reformat: { type: "l2_tunnel_to_l2" as const } };
  return {
    flowsteer: 1,
    device: { name, ports },
    tables: ["root", "leaf", "inside"].map((table, level) => ({ name: table, domain: "fdb" as const, level })),
    rules: [
      { name: "all", table: "root", actions: [{ table: "leaf" }] },
      { name: "of a tunnel", table: "leaf", priority: 0, match: tunnel, actions: [out, { table: "inside" }] },
      ...hosts.map((host) => (isLocal(host) ? toHost("leaf", host) : remote(host))),
      ...hosts.filter(isLocal).map((host) => toHost("inside", host)),
    ],
  };
}

/** A spine has a port for each leaf. */
function spineRules({ name, ports = 1 }: FabricNode): Scenario {
  const rules = Array.from({ length: LEAVES }, (_, leaf) => ({
    ...{
      name: `leaf ${leaf}`,
      table: "spine",
      match: { "outer.ipv4_dst": leafIp(leaf) },
      actions: [{ port: leaf + 1 }],
    },
  }));
  return {
    flowsteer: 1,
    device: { name, ports },
    tables: [
      { name: "root", domain: "fdb", level: 0 },
      { name: "spine", domain: "fdb", level: 1 },
    ],
    rules: [{ name: "all", table: "root", actions: [{ table: "spine" }] }, ...rules],
  };
}

/** A host with one RC queue pair. */
function openHost({ name, index: host = 0 }: FabricNode) {
  const device = createDeviceSync({ name, macs: [hostMac(host)], gids: [[`10.0.0.${host + 1}`]] });
  const context = v.ibv_open_device(device);
  const pd = v.ibv_alloc_pd(context);
  const [sent, received] = [v.ibv_create_cq(context, 64), v.ibv_create_cq(context, 64)];
  const memory = new Uint8Array(MESSAGE);
  const { lkey } = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const cap = { max_send_wr: 32, max_recv_wr: 32, max_send_sge: 1, max_recv_sge: 1 };
  const qp = v.ibv_create_qp(pd, { send_cq: sent, recv_cq: received, cap, qp_type: v.IBV_QPT_RC });
  return {
    host,
    device,
    qp,
    sent,
    received,
    request: { wr_id: 0n, sg_list: [{ addr: memory, length: MESSAGE, lkey }], num_sge: 1 },
  };
}
type Host = ReturnType<typeof openHost>;

function connect(own: Host, peer: Host): void {
  const dgid = v.ibv_query_gid(v.ibv_open_device(peer.device), 1, 1);
  const grh = { dgid, sgid_index: 1, hop_limit: 64 };
  const attr = {
    ...{ pkey_index: 0, port_num: 1, qp_access_flags: 0, path_mtu: v.IBV_MTU_1024, dest_qp_num: peer.qp.qp_num },
    ...{ rq_psn: 0, sq_psn: 0, max_rd_atomic: 1, max_dest_rd_atomic: 1, min_rnr_timer: 12 },
    ...{
      timeout: 6,
      retry_cnt: 7,
      rnr_retry: 7,
      ah_attr: { is_global: 1, port_num: 1, grh, dmac: hostMac(peer.host) },
    },
  };
  const steps = [
    [v.IBV_QPS_INIT, v.IBV_QP_PKEY_INDEX | v.IBV_QP_PORT | v.IBV_QP_ACCESS_FLAGS],
    [
      v.IBV_QPS_RTR,
      v.IBV_QP_AV |
        v.IBV_QP_PATH_MTU |
        v.IBV_QP_DEST_QPN |
        v.IBV_QP_RQ_PSN |
        v.IBV_QP_MAX_DEST_RD_ATOMIC |
        v.IBV_QP_MIN_RNR_TIMER,
    ],
    [
      v.IBV_QPS_RTS,
      v.IBV_QP_SQ_PSN | v.IBV_QP_MAX_QP_RD_ATOMIC | v.IBV_QP_RETRY_CNT | v.IBV_QP_RNR_RETRY | v.IBV_QP_TIMEOUT,
    ],
  ] as const;
  for (const [qp_state, mask] of steps) v.ibv_modify_qp(own.qp, { ...attr, qp_state }, v.IBV_QP_STATE | mask);
}

/** Gigabits a second that arrive in messages, all hosts together. */
async function goodput(loss: number): Promise<number> {
  const hosts: Host[] = [];
  const fabric = await createFabric({
    ...leafSpine({
      spines: SPINES,
      leaves: LEAVES,
      hostsPerLeaf: HOSTS_PER_LEAF,
      edge: EDGE,
      uplink: { ...EDGE, loss },
    }),
    make: async (node) => {
      if (node.role === "host") return hosts[hosts.push(openHost(node)) - 1]!.device;
      return (await loadScenario(node.role === "leaf" ? leafRules(node) : spineRules(node))).device;
    },
  });
  // Hosts talk in pairs, each with one of another leaf.
  for (const own of hosts) connect(own, hosts[(own.host + HOSTS / 2) % HOSTS]!);
  for (const { qp, request } of hosts) {
    for (let n = 0; n < MESSAGES; n++) v.ibv_post_recv(qp, request);
    for (let n = 0; n < MESSAGES; n++) {
      v.ibv_post_send(qp, { ...request, opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_SIGNALED });
    }
  }
  let [arrived, last] = [0, 0n];
  while (fabric.step()) {
    for (const { received, sent } of hosts) {
      for (const { status } of v.ibv_poll_cq(sent, 8))
        if (status !== v.IBV_WC_SUCCESS) console.log(v.ibv_wc_status_str(status));
      const count = v.ibv_poll_cq(received, 8).length;
      arrived += count;
      if (count > 0) last = fabric.now();
    }
  }
  return (8 * MESSAGE * arrived) / Number(last);
}

const points: { loss: number; rate: number }[] = [];
for (const loss of [0, 0.001, 0.005, 0.02]) {
  const rate = await goodput(loss);
  points.push({ loss, rate });
  console.log(`loss ${(100 * loss).toFixed(1)} %: ${rate.toFixed(1)} Gb/s`);
}

/** Goodput against loss, as SVG. */
function plot(): string {
  const most = Math.max(...points.map(({ rate }) => rate));
  const at = points.map(({ loss, rate }) => [40 + 15_000 * loss, 180 - (150 * rate) / most] as const);
  const marks = at.map(([x, y]) => `<circle cx="${x}" cy="${y.toFixed(1)}" r="3"/>`).join("");
  const line = at.map(([x, y]) => `${x},${y.toFixed(1)}`).join(" ");
  const axes = `<path d="M40 20V180H360" fill="none" stroke="#666"/><polyline points="${line}" fill="none" stroke="#0072b2"/>`;
  const words = `<text x="44" y="18">goodput, at most ${most.toFixed(0)} Gb/s</text><text x="280" y="196">loss, to 2 %</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 200" font-size="12">${axes}${marks}${words}</svg>`;
}

const [, , file] = process.argv;
if (file !== undefined) writeFileSync(file, plot());
