/**
 * The page of profiles, from their tables (src/model/profile).
 *
 *     node --import tsx scripts/profilesPage.ts      writes docs/profiles.md
 */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { format } from "prettier";
import type {
  ActionCheck,
  DeviceFlowCheck,
  FlowActionCheck,
  FlowCheck,
  HeaderCheck,
  MaskCheck,
  Profile,
  SpecCheck,
  TableRules,
  ValueCheck,
} from "../src/model/profile/profile.js";
import { PROFILES } from "../src/model/profile/profiles.js";
import type { Refusals } from "../src/model/profile/refusals.js";

const FLOW: Readonly<Record<FlowCheck | SpecCheck, string>> = {
  notPermitted: "a context without CAP_NET_RAW",
  noSteering: "a device without managed flow steering",
  queuePairType: "a queue pair that is neither UD nor raw packet",
  queuePairTypeUnlessEgress: "a queue pair that is neither UD nor raw packet, except with EGRESS",
  flowType: "an unknown `type`",
  unknownFlag: "an unknown flag",
  allowLoopBack: "ALLOW_LOOP_BACK",
  port: "a `port` that the device does not have",
  specCount: "`num_of_specs` that is not the number of specs",
  tooManySpecs: "more specs than the profile takes",
  secondTag: "a second tag",
  secondCounters: "a second counters object",
  countersWithoutPoints: "a counters object without points",
  tooManyPoints: "a counters object with more points than the profile takes",
  dontTrapUnlessNormal: "DONT_TRAP with another type than NORMAL",
  dontTrapOfDefault: "DONT_TRAP with ALL_DEFAULT or MC_DEFAULT",
  egressUnlessNormal: "EGRESS with another type than NORMAL",
  egressOfDefault: "EGRESS with ALL_DEFAULT or MC_DEFAULT",
  priority: "a priority after the last one",
  etherType: "an EtherType beside an IP spec that is not the one of that spec, nor MPLS, or is masked in part",
  unknownSpec: "an unknown type of spec, or INNER with a type that has no inner header",
  longFilter: "a filter of a later library with bits in fields that are unknown here",
  wideField: "`flow_label` with more than 20 bits, `tunnel_id` with more than 24",
  unknownIpv4Flag: "IPv4 flags other than don't fragment and more fragments in the mask",
  wideTag: "a tag with more than 24 bits",
  unmaskableField: "a mask of `ttl`, `flags`, `hop_limit`, `seq` or `c_ks_res0_ver`",
  otherProtocol: "an IP protocol that differs from the one of an earlier spec",
  valueOutsideMask: "a value with bits outside its mask",
};

const FLOW_ACTIONS: Readonly<Record<FlowActionCheck, string>> = {
  otherDevice: "an action of another device",
  otherFunction: "an action of another function",
  notNormal: "any action, where the type of the flow is not NORMAL",
  dontTrap: "an action other than ESP with DONT_TRAP",
  otherDirection: "an action of the other direction",
  tooMany: "more than eight actions",
  secondOfKind: "a second action of one kind",
  secondEsp: "a second ESP action",
  inlineWithoutEsp: "an inline ESP action, where no specs match IP and ESP of the outer packet",
  egressEspWithDropOrTag: "an ESP action of an EGRESS flow that drops or tags",
};

const IN_BYTES: Readonly<Record<DeviceFlowCheck, string>> = {
  noSteering: "a device without managed flow steering",
  secondEnd: "a second destination, DROP or DEFAULT_MISS",
  secondTag: "a second tag",
  verbsCounters: "a counters object of the verbs",
  secondCounter: "a second counter",
  tooManyActions: "more than eight flow actions",
  unknownAction: "an unknown type of action",
  notPermitted: "a context without CAP_NET_RAW",
  tooManyChanges: "more than two flow actions",
  fdbDestination: "in the FDB, an end other than a flow table and DROP",
  rdmaDestination: "in RDMA_RX, an end other than a queue pair and a flow table",
  datagramQueuePair: "a UD queue pair",
  secondOfKind: "a second flow action of one kind",
  secondEsp: "a second ESP action",
  tagInFdb: "a tag in the FDB",
  counterWithoutEnd: "a counter without a destination or DROP, except on the send path",
  transportPriority: "a priority beyond the last one, in RDMA_TRANSPORT tables",
};

const MASKS: Readonly<Record<MaskCheck, string>> = {
  criteria: "`match_criteria_enable` with a bit that names no group",
  noBytes: "a mask of 0 bytes",
  tooManyBytes: "more bytes than the table takes",
  versionMask: "a mask of `ip_version` other than 4 and 6",
  versionMaskUnlessWhole: "a mask of `ip_version` other than 4, 6 and 15",
  partOfSourcePort: "a mask of some bits of `source_port`",
  emptyMask: "named groups of which nothing is masked",
  sampleId: "a sample with an unknown id",
  unknownToDevice: "a field of `ext`, or one that steering entries do not have",
  sourceOnTransmit: "`source_sqn` or `source_port` in NIC_TX",
  okBits: "`l3_ok`, `l4_ok`, `ipv4_checksum_ok` or `l4_checksum_ok`",
  exclusiveFields: "fields of two tunnels, of ICMP and ICMPv6, or of MPLS over GRE and over UDP",
  versionlessFields: "fields above L2 without a mask of `ip_version`",
};

const VALUES: Readonly<Record<ValueCheck, string>> = {
  priority: "a matcher with a priority above 15",
  criteria: "a matcher with criteria that name no group",
  noBytes: "a value of 0 bytes",
  tooManyBytes: "more bytes than the table takes",
  partOfDword: "a number of bytes that is not a multiple of 4",
  outsideMask: "bits outside the mask",
  versionOutsideMask: "an `ip_version` with bits outside the number in the mask",
  otherVersion: "another `ip_version` than the one in the mask",
  sourcePort: "a `source_port` that is no vport",
  conflict: "the frames of an older rule with other changes, another tag, or a drop",
};

const ACTIONS: Readonly<Record<ActionCheck | "counterWithoutEnd", string>> = {
  owner: "an action of another device, domain or function",
  connectionInUse: "a connection of another domain that another rule uses",
  hostOnly: "a tag, queue pair or TIR outside NIC_RX",
  otherLevel: "an action made for root tables elsewhere, or for other tables in a root table",
  otherLevelUnlessDecap: "an action made for root tables, except decapsulation to L2",
  nextTable: "a next table whose level is not higher",
  otherContext: "a first-hit flag or meter of another context",
  secondEnd: "a second action that ends the rule",
  secondTag: "a second tag",
  notInRoot: "a kind of action that root tables do not take",
  secondEndOrCounter: "a second action that ends the rule, or a second counter",
  secondOfKind: "a second action of one kind",
  missInFdb: "default miss in the FDB",
  thirdPush: "a third push of a VLAN tag",
  oneWay: "push or encapsulation of received frames, pop of sent frames",
  repeated: "an action more often than its kind allows: twice for VLAN tags, else once",
  order: "an order of actions that the device does not run",
  counterWithoutEnd: "a counter without an action that ends the rule, except in NIC_TX",
};

const HEADERS: Readonly<Record<HeaderCheck, string>> = {
  changeType: "header change: a type other than SET, ADD and COPY",
  addField: "header change: ADD to a field that the device only sets (root tables: except registers)",
  fixedField: "header change: a field that the device does not change",
  mixedVersions: "header change: fields of IPv4 and of IPv6 in one list",
  mixedProtocols: "header change: fields of TCP and of UDP in one list",
  reformatDirection: "packet reformat: encapsulation in NIC_RX, decapsulation in NIC_TX",
  reformatInFdbRoot: "packet reformat: in the root table of the FDB",
  flowReformatDirection: "packet reformat for flows: in the FDB, or in the other direction",
  arrayInNicTx: "destination array: in NIC_TX",
  memberOfFdb: "destination array: default miss, vport or port as member outside the FDB",
  sampleCounterInFdb: "sampler: a counter in the FDB",
};

type Row = readonly string[];

function table(header: Row, rows: readonly Row[]): string {
  return [header, header.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Profiles whose part of the tables is the same. */
function groups<T>(part: (profile: Profile) => T): { title: string; part: T }[] {
  const found = new Map<string, { names: string[]; part: T }>();
  for (const profile of PROFILES) {
    const own = part(profile);
    const group = found.get(JSON.stringify(own)) ?? { names: [], part: own };
    found.set(JSON.stringify(own), group);
    group.names.push(`\`${profile.name}\``);
  }
  return [...found.values()].map(({ names, part }) => ({ title: names.join(", "), part }));
}

/** One row a check, one column a group of profiles. */
function lookups<Check extends string>(
  texts: Readonly<Record<Check, string>>,
  part: (profile: Profile) => Refusals<Check>,
): string {
  const columns = groups(part);
  const rows = (Object.keys(texts) as Check[]).flatMap((check) => {
    const codes = columns.map((column) => column.part[check] ?? "");
    return codes.every((code) => code === "") ? [] : [[texts[check], ...codes]];
  });
  return table(["refused", ...columns.map(({ title }) => title)], rows);
}

interface AnyStep {
  readonly by: string;
  readonly each?: string | undefined;
  readonly refuses: Readonly<Record<string, string | undefined>>;
}

/** One table a group of profiles, its rows in the order of the checks. */
function steps(texts: Readonly<Record<string, string>>, part: (profile: Profile) => readonly AnyStep[]): string {
  return groups(part)
    .map(({ title, part }) => {
      const rows = part.flatMap(({ by, each, refuses }) =>
        Object.entries(refuses).map(([check, code]) => [
          by,
          each === undefined ? "" : `each ${each}`,
          texts[check] ?? check,
          code ?? "",
        ]),
      );
      const numbered = rows.map((row, i) => [String(i + 1), ...row]);
      return `${title}:\n\n${table(["", "by", "for", "refused", "errno"], numbered)}`;
    })
    .join("\n\n");
}

/** The same for root tables and for all other tables. */
function both(text: (part: (profile: Profile) => TableRules) => string): string {
  return `### Root tables\n\n${text(({ rules }) => rules.root)}\n\n### Other tables\n\n${text(({ rules }) => rules.other)}`;
}

const yes = (value: boolean): string => (value ? "yes" : "no");

const PROPERTIES: Readonly<Record<string, (profile: Profile) => string>> = {
  "last priority of flows": ({ flows }) => String(flows.lastPriority),
  "specs of a flow": ({ flows }) => String(flows.maxSpecs),
  "points of a counters object": ({ flows }) => (flows.maxPoints === Infinity ? "any" : String(flows.maxPoints)),
  "multicast-only flows come last": ({ flows }) => yes(flows.multicastLast),
  "points can be attached to a live flow": ({ counters }) => yes(counters.liveAttach),
  "counters can be read without a flow": ({ counters }) => yes(counters.readUnbound),
  "definers, layouts of matchers": ({ rules }) => yes(rules.definers),
  "first hit, meters, connections": ({ rules }) => yes(rules.statefulActions),
  "samplers that change headers": ({ rules }) => rules.samplerPrograms,
  "ESP: flags at creation": ({ esp }) => `0x${esp.createFlags.toString(16)}`,
  "ESP: flags at modification": ({ esp }) => `0x${esp.modifyFlags.toString(16)}`,
  "ESP: bytes of the ICV": ({ esp }) => esp.icvLengths.join(", "),
  "ESP: full offload": ({ esp }) => yes(esp.fullOffload),
  "ESP: another key, ESN later": ({ esp }) => yes(esp.rekeys),
  "steering format": ({ steeringFormat }) => String(steeringFormat),
  "`ibv_modify_srq` resizes": ({ resizesSharedQueues }) => yes(resizesSharedQueues),
  "`vendor_part_id`": ({ partId }) => `0x${partId.toString(16)}`,
};

/** docs/profiles.md. */
export async function profilesPage(): Promise<string> {
  const names = PROFILES.map(({ name }) => `\`${name}\``);
  const properties = Object.entries(PROPERTIES).map(([text, of]) => [text, ...PROFILES.map(of)]);
  const page = `# Profiles

<!-- Generated by scripts/profilesPage.ts from src/model/profile: do not edit. -->

\`createDevice({ profile })\` chooses what is refused beyond what no device can do. \`manual\`, the default, refuses
what a manual page refuses and what has no meaning. The ConnectX profiles refuse what the mlx5 stack of these
devices refuses, with its errno and in its order. A refused call leaves everything as it was.

Tables name the part of the stack that refuses: \`page\` is the manual page of the call, \`provider\` and \`library\` are
libmlx5 and libibverbs, \`uverbs\`, \`driver\` and \`steering core\` are parts of the kernel, \`model\` is this package.

## Properties

${table(["", ...names], properties)}

## Flows: \`ibv_create_flow\`

Checks in their order; the first that finds something is the refusal. Specs that contradict each other are refused
afterwards, under every profile ([flows](flows.md)).

${steps(FLOW, ({ flows }) => flows.create)}

## Flow actions of a flow

For each action in turn, in this order.

${lookups(FLOW_ACTIONS, ({ flows }) => flows.actions)}

## Flows in device bytes: \`mlx5dv_create_flow\`

${lookups(IN_BYTES, ({ flows }) => flows.inBytes)}

## Masks of matchers

Flow matchers (\`mlx5dv_create_flow_matcher\`) have the masks and values of root tables.

${both((rules) => lookups(MASKS, (profile) => rules(profile).masks))}

## Values of rules

${both((rules) => lookups(VALUES, (profile) => rules(profile).values))}

## Actions of rules

Checks in their order.

${both((rules) => steps(ACTIONS, (profile) => rules(profile).lists))}

## Header changes, packet reformats, destination arrays

When the action is made.

${both((rules) => lookups(HEADERS, (profile) => rules(profile).headers))}
`;
  return format(page, { parser: "markdown", proseWrap: "always", printWidth: 100 });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(new URL("../docs/profiles.md", import.meta.url), await profilesPage());
