/** Which frames two rule sets treat differently, over all frames there are. */
import type { CoreSource } from "flowsteer";
import { difference, type DifferenceGroup, type Treatment } from "flowsteer/explain";
import { checkScenario, type LoadedScenario } from "flowsteer/scenario";
import type { ComparedGroup, ComparedRules, ProofProgress, TreatedFrame } from "./api.js";

/** Changes that are listed by name. */
const MAX_CHANGES = 100;

/** @returns null where either rules are refused */
export async function compareRules(
  before: string,
  now: string,
  core: CoreSource,
  onProgress: ProofProgress,
): Promise<ComparedRules | null> {
  const pair = [await loadedOf(before, core), await loadedOf(now, core)] as const;
  const [old, changed] = pair;
  if (old === null || changed === null) return null;
  // What waits for a sync takes effect.
  for (const loaded of [old, changed]) loaded.prepare({ bytes: new Uint8Array(), sync: true });
  const { equal, groups, changes } = await difference(old.device, changed.device, { core, onProgress });
  const unknown = changes.filter(({ effect }) => effect === "unknown");
  return {
    equal,
    groups: groups.map(groupOf),
    changes: changes.length,
    unknown: unknown.length,
    unknownChanges: unknown
      .slice(0, MAX_CHANGES)
      .map(({ sentence, tried }) => ({ sentence, tried: tried ?? "nothing" })),
  };
}

async function loadedOf(text: string, core: CoreSource): Promise<LoadedScenario | null> {
  return (await checkScenario(text, { core })).loaded;
}

function groupOf({ kinds, sentence, headers, witness, before, after }: DifferenceGroup): ComparedGroup {
  return { kinds, sentence, headers, witness, before: treatedOf(before), after: treatedOf(after) };
}

function treatedOf({ rules, outcome: { verdict, reason, to, copies } }: Treatment): TreatedFrame {
  const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
  return { verdict, reason, to: names(to), copies: names(copies), rules: names(rules) };
}
