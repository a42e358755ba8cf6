/** The page rules-coverage.md from the rows of all cases (scripts/coverage-pages.mjs). */
import { aligned, code } from "../../../support/coveragePage.js";
import { ARRAY_CASES } from "./arrayCases.js";
import { CREATE_FLOW_CASES } from "./createFlowCases.js";
import { DESTINATION_CASES } from "./destinationCases.js";
import { DEVX_CREATE_CASES } from "./devxCreateCases.js";
import { DEVX_USE_CASES } from "./devxUseCases.js";
import { DEVICE_CASES, DUMP_CASES } from "./deviceCases.js";
import { FLOW_END_CASES } from "./flowEndCases.js";
import { FLOW_ACTION_CASES } from "./flowActionCases.js";
import { ANCHOR_CASES, FLOW_MATCHER_CASES } from "./flowMatcherCases.js";
import { MATCHER_CASES } from "./matcherCases.js";
import { OBJECT_CASES, RULE_CASES } from "./objectCases.js";
import { PACKET_CASES } from "./packetCases.js";
import { QUEUE_CASES } from "./queueCases.js";
import { PROFILES, rowOf, type Case } from "./record.js";
import { STATE_CASES } from "./stateCases.js";
import { MISSING_CASES, VERBS_OBJECT_CASES } from "./verbsObjectCases.js";

const SECTIONS: readonly (readonly [title: string, cases: readonly Case[]])[] = [
  ["Domains and tables", OBJECT_CASES],
  ["Matchers", MATCHER_CASES],
  ["Rules", RULE_CASES],
  ["Actions: where a frame goes, tags, counters", [...DESTINATION_CASES, ...ARRAY_CASES]],
  ["Actions: what a frame becomes", PACKET_CASES],
  ["Actions that remember", STATE_CASES],
  ["Flow actions", FLOW_ACTION_CASES],
  ["Flows in device bytes: matchers", FLOW_MATCHER_CASES],
  ["Flows in device bytes", [...FLOW_END_CASES, ...CREATE_FLOW_CASES]],
  ["Steering anchors", ANCHOR_CASES],
  ["Queues", QUEUE_CASES],
  ["Device commands: what they make", DEVX_CREATE_CASES],
  ["Device commands: what is asked, changed and destroyed", DEVX_USE_CASES],
  ["Devices, ports, commands without an object", DEVICE_CASES],
  ["Queues of the verbs, asynchronous queries, attributes of the device", VERBS_OBJECT_CASES],
  ["Dumps", DUMP_CASES],
  ["What the model lacks", MISSING_CASES],
];

export const CASES: readonly Case[] = SECTIONS.flatMap(([, cases]) => cases);

const HEAD = `# What the tests of direct rules assert

\`npm run coverage:pages\` makes this page from the cases in \`test/mlx5dv/coverage/\`. A cell lists what its test has
asserted: **destination**, a frame reached a queue or left by a port; **bytes**, all of its bytes there, or those of an
answer of the device, or of a dump; **register**, what a rule has written in a metadata register, as the outcome or a later
table finds it; beside these **tag**, **counter**, **memory**; an errno, the call was refused with it. Each row asserts at
least one destination, bytes, register or errno. The rows cover all functions of \`mlx5dv_dr(3)\`, without their prefix
\`mlx5dv_dr_\`, of \`mlx5dv_create_flow(3)\` and its family, device commands object by object, queues, and dumps. \`docs/rules.md\`,
\`state.md\`, \`flows.md\`, \`queues.md\` and \`devx.md\` say what they mean.

One cell: \`npx vitest run --project node test/mlx5dv/coverage/coverage.test.ts -t "connectx7 action_create_pop_vlan in FDB"\`.

Beside these rows: every field of the match parameters in \`test/mlx5dv/dr/matcherFields.test.ts\`, every refused mask in \`matchers.test.ts\`, every field
that header changes know in \`modifyHeader.test.ts\`, and pipelines drawn at random against the reference.
`;

export async function coveragePage(sections = SECTIONS): Promise<string> {
  const parts = [HEAD];
  for (const [title, cases] of sections) {
    const lines = await Promise.all(cases.map(lineOf));
    parts.push(`## ${title}\n`, aligned([["function", "case", ...PROFILES], ...lines]));
  }
  return parts.join("\n");
}

async function lineOf(one: Case): Promise<string[]> {
  const cells = await Promise.all(PROFILES.map((profile) => rowOf(one, profile)));
  return [
    code(one.call),
    one.what,
    ...cells.map((results) => results.map((result) => result.replace("errno ", "")).join(", ")),
  ];
}
