// Random tables with conjunctive flows, and with connection tracking. Addresses and ports are those of the frames of draw.mjs.

const IPV4 = ["10.0.0.1", "10.0.0.2", "10.1.0.1", "192.0.2.7"];
const PORTS = [80, 443, 53, 4000];
const OUTPUTS = ["1", "2", "3", "4", "LOCAL"];

/** Matches of a clause: sources, destinations, or ports. */
const CLAUSES = [
  (random) => `ip,nw_src=${random.pick([...IPV4, "10.0.0.0/8"])}`,
  (random) => `ip,nw_dst=${random.pick([...IPV4, "10.0.0.0/9"])}`,
  (random) => `${random.pick(["tcp", "udp"])},tp_dst=${random.pick([...PORTS, "0x50/0xfff0"])}`,
  (random) => `in_port=${random.pick(OUTPUTS)}`,
];

export function drawConjunctions(random) {
  const flows = [`priority=0,actions=output:${random.pick(OUTPUTS)}`];
  const count = random.between(1, 3);
  for (let id = 1; id <= count; id++) {
    const priority = 100 * id;
    const clauses = CLAUSES.filter(() => random.chance(0.6)).slice(0, 3);
    if (clauses.length < 2) clauses.splice(0, clauses.length, CLAUSES[0], CLAUSES[1]);
    clauses.forEach((clause, n) => {
      const matches = new Set(Array.from({ length: random.between(1, 4) }, () => clause(random)));
      for (const match of matches) {
        flows.push(`priority=${priority},${match},actions=conjunction(${id},${n + 1}/${clauses.length})`);
      }
    });
    const more = random.pick(["", "ip,"]);
    flows.push(
      `priority=${priority},conj_id=${id},${more}actions=output:${random.pick(OUTPUTS)},output:${random.pick(OUTPUTS)}`,
    );
    if (random.chance(0.5)) flows.push(`priority=${priority + 50},udp,nw_src=${random.pick(IPV4)},actions=drop`);
  }
  return { version: "OpenFlow10", flows: unique(flows), groups: [] };
}

const STATES = ["+trk+est", "+trk", "-trk", "+trk+new", "+est-rpl", "+trk+inv", "-new", "0x22/0x22"];

export function drawConnections(random) {
  const zone = () => random.pick(["", `zone=${random.between(1, 3)},`, "zone=NXM_NX_REG1[0..15],"]);
  const flows = [
    `table=0,priority=5,ip,actions=load:${random.between(1, 3)}->NXM_NX_REG1[],ct(${zone()}table=1)`,
    `table=0,priority=0,actions=output:${random.pick(OUTPUTS)}`,
    `table=1,priority=0,actions=output:${random.pick(OUTPUTS)}`,
    `table=2,priority=0,actions=${random.pick(["drop", "output:1"])}`,
  ];
  for (let n = 0; n < 4; n++) {
    const table = random.below(3);
    const state = table === 0 ? random.pick(["-trk", "-est"]) : random.pick(STATES);
    const inZone = random.chance(0.3) ? `ct_zone=${random.between(0, 3)},` : "";
    const match = random.pick(["", `nw_src=${random.pick(IPV4)},`, `nw_dst=${random.pick(IPV4)},`]);
    const before = random.pick(["", "", `output:${random.pick(OUTPUTS)},`]);
    const action =
      table === 0
        ? `${before}ct(${zone()}table=1)${random.pick(["", `,output:${random.pick(OUTPUTS)}`])}`
        : random.pick([
            `output:${random.pick(OUTPUTS)}`,
            table === 1 ? "resubmit(,2)" : "output:2",
            table === 1 ? "ct_clear,resubmit(,2)" : "output:3",
          ]);
    flows.push(`table=${table},priority=${10 + n},ct_state=${state},${inZone}ip,${match}actions=${action}`);
  }
  return { version: "OpenFlow10", flows: unique(flows), groups: [] };
}

/** Of flows with one match, the first. */
function unique(flows) {
  const seen = new Set();
  return flows.filter((flow) => {
    const [match] = flow.split("actions=");
    if (seen.has(match) && !flow.includes("conjunction(")) return false;
    seen.add(match);
    return true;
  });
}
