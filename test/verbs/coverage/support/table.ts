/** The page flow-coverage.md from the rows of all cases (scripts/coverage-pages.mjs). */
import { aligned, code } from "../../../support/coveragePage.js";
import { ACTION_CASES } from "./actionCases.js";
import { ESP_CASES } from "./espCases.js";
import { FIELD_CASES } from "./fieldCases.js";
import { FLOW_CASES } from "./flowCases.js";
import { PROFILES, rowOf, type Case, type Row } from "./record.js";

export const CASES: readonly Case[] = [...FIELD_CASES, ...ACTION_CASES, ...FLOW_CASES, ...ESP_CASES];

const HEAD = `# What the tests of flows assert

\`npm run coverage:pages\` makes this page from the cases in \`test/verbs/coverage/\`. A cell lists what its test has
asserted: **tag**, a frame reached the queue with the flow's tag; **destination**, it reached the queue; **counter**,
packets and bytes were counted; an errno, the call was refused with it. \`docs/flows.md\` says what flows mean.

One row: \`npx vitest run --project node test/verbs/coverage/coverage.test.ts -t "connectx7 IPV6 hop_limit inner"\`.
`;

const SECTIONS: readonly (readonly [title: string, text: string, cases: readonly Case[]])[] = [
  [
    "Fields of match specs",
    `Built frames have the header outside and inside of tunnels (VXLAN, Geneve, NVGRE; of IP also GRE, IP in IP, MPLS over UDP). The frame's
own value takes it, asked whole and bit by bit (one bit of each byte under the ConnectX profiles), in objects and in C bytes; with a bit
flipped it does not, nor does it take a frame without the field. An empty mask takes what has the header if the spec implies it, else every frame. "label behind UDP": the list has a UDP
spec right before the MPLS spec.`,
    FIELD_CASES,
  ],
  ["Actions", "", ACTION_CASES],
  ["Lists of specs, the attributes of a flow, its queue pair", "", FLOW_CASES],
  [
    "ESP actions",
    `Members of the structs of ibv_flow_action_esp(3); \`docs/esp.md\` says what they do. Where a row has a destination, frames were
sealed by one action, opened by another, and were what they had been.`,
    ESP_CASES,
  ],
];

export async function coveragePage(sections = SECTIONS): Promise<string> {
  const parts = [HEAD];
  for (const [title, text, cases] of sections) {
    const lines = await Promise.all(cases.map(lineOf));
    const table = [["spec", "field", "level", ...PROFILES], ...lines];
    const leveled = cases.some(({ level }) => level !== null);
    parts.push(`## ${title}\n`, ...(text === "" ? [] : [`${text}\n`]));
    parts.push(aligned(leveled ? table : table.map((line) => line.toSpliced(2, 1))));
  }
  return parts.join("\n");
}

async function lineOf(one: Case): Promise<string[]> {
  const cells = await Promise.all(PROFILES.map(async (profile) => cellOf(await rowOf(one, profile))));
  return [code(one.spec), code(one.field), one.level ?? "", ...cells];
}

const cellOf = ({ results }: Row): string => results.map((one) => one.replace("errno ", "")).join(", ");
