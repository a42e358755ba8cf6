/** Rewrites of scenarios that change nothing for any frame are proved to be equal. */
import { expect, test } from "vitest";
import { difference } from "../../../src/explain/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, DEEP, rounds } from "../../support/tier.js";
import { drawDocument, loaded } from "./support/documents.js";
import { IGNORED, REWRITES } from "./support/rewrites.js";

const PAIRS = rounds(DEEP ? 120 : 720, "FLOWSTEER_REWRITES");
/** Of all pairs, those that may be neither proved nor refuted. */
const MAX_UNDECIDED = 0.02;

test(`${PAIRS} rewrites`, { timeout: 7_200_000 }, async () => {
  const random = new Random(seedFor("equal rewrites"));
  const kinds = Object.keys(REWRITES) as (keyof typeof REWRITES)[];
  const decided = new Map(kinds.map((kind) => [kind, 0]));
  const undecided: string[] = [];
  let [slowest, name] = [0, ""];
  for (let pairs = 0; pairs < PAIRS;) {
    const kind = kinds[pairs % kinds.length]!;
    const seed = random.word();
    const own = new Random(seed);
    const pair = REWRITES[kind](own, drawDocument(own, DEEP ? 10 : 6, { copies: 0.1 }));
    if (pair === null) continue;
    const [old, changed] = own.chance(0.5) ? pair : [pair[1], pair[0]];
    const [a, b] = [await loaded(old), await loaded(changed)];
    if (a === null || b === null) continue;
    pairs++;
    const began = process.cpuUsage();
    const { equal, groups, changes } = await difference(a.device, b.device, { ignore: IGNORED[kind] ?? [] });
    const seconds = process.cpuUsage(began).user / 1e6;
    if (seconds > slowest) [slowest, name] = [seconds, `${kind} of seed ${seed}`];
    expect(groups, `${kind} of seed ${seed}`).toEqual([]);
    if (equal) decided.set(kind, decided.get(kind)! + 1);
    else undecided.push(`${kind} of seed ${seed}: ${JSON.stringify(changes.filter(({ tried }) => tried !== null))}`);
  }
  const figures = { pairs: PAIRS, undecided: undecided.length, slowest: `${slowest.toFixed(1)} s, ${name}` };
  console.log(JSON.stringify({ ...figures, memory: `${Math.round(process.resourceUsage().maxRSS / 1024)} MB` }));
  expect(undecided.length, undecided.join("\n")).toBeLessThanOrEqual(Math.ceil(MAX_UNDECIDED * PAIRS));
  checkReached(() => expect([...decided].filter(([, count]) => count === 0)).toEqual([]));
});
