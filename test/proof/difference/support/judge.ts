/** Holds what a difference says of two devices to frames that both steer. */
import { openTracer } from "../../../../src/explain/trace/tracer.js";
import type { Device } from "../../../../src/index.js";
import { differentKinds } from "../../../../src/proof/difference/compare.js";
import type { Suspect } from "../../../../src/proof/difference/changes.js";
import { compared } from "../../../../src/proof/difference/difference.js";
import { DifferenceFinder, type Judged } from "../../../../src/proof/difference/finder.js";
import { treatmentOf } from "../../../../src/proof/difference/treatment.js";
import type { Prepared } from "../../../../src/proof/path/preparations.js";
import type { KeyMatch } from "../../../../src/explain/match/terms.js";

/** A frame without a place where it comes in. */
export interface Bytes {
  readonly frame: Uint8Array;
  readonly metadata: number;
}

export interface Verdicts {
  readonly changes: readonly (Judged & Pick<Suspect, "sentence">)[];
  readonly frames: number;
  /** Frames that are treated differently. */
  readonly different: number;
  /** Frames that are treated differently, which contradicts what was said of a change. */
  readonly wrong: readonly string[];
}

/** Judges all changes, then steers frames from all places through both devices. */
export async function judge(old: Device, changed: Device, frames: readonly Bytes[]): Promise<Verdicts> {
  const [a, b] = [await openTracer(old), await openTracer(changed)];
  for (const tracer of [a, b]) tracer.refresh();
  const { sides, suspects } = compared(a, b, {});
  const finder = new DifferenceFinder(sides, suspects, {});
  const changes = suspects.map((suspect) => ({ suspect, ...finder.effectOf(suspect.goals) }));
  const wrong: string[] = [];
  let steered = 0;
  let different = 0;
  for (const { frame, metadata } of frames) {
    for (const entry of sides.old.world.graph.entries) {
      const there = sides.changed.entryLike(entry);
      if (there === null || entry.transport || (entry.queue !== null && frame.length < 14)) continue;
      const sent = entry.queue === null ? 0 : metadata;
      const walks = {
        old: sides.old.world.walk({ frame, entry, metadata: sent }),
        changed: sides.changed.world.walk({ frame, entry: there, metadata: sent }),
      };
      steered++;
      const kinds = differentKinds(treatmentOf(walks.old.trace), treatmentOf(walks.changed.trace), {});
      if (kinds.length === 0) continue;
      different++;
      const noticed = changes.filter(
        ({ suspect }) =>
          suspect.goals.length === 0 ||
          suspect.goals.some((goal) => {
            const { lookups } = walks[goal.side];
            const world = sides[goal.side].world;
            return lookups.some(
              ({ table, rule, key, step }) =>
                table === goal.table &&
                !step.passedOver &&
                rule === (goal.rule?.stored.address ?? 0) &&
                (goal.also ?? []).every((also) => matches(world.contentOf(also), key)),
            );
          }),
      );
      const proved = noticed.filter(({ effect }) => effect === "same");
      if (noticed.length > 0 && proved.length === 0) continue;
      const what =
        noticed.length === 0 ? "no change is noticed" : proved.map(({ suspect }) => suspect.sentence).join("; ");
      wrong.push(
        `${what}: ${kinds.join()} of ${textOf({ frame, entry, metadata: sent })} ${JSON.stringify([
          treatmentOf(walks.old.trace),
          treatmentOf(walks.changed.trace),
        ])}`,
      );
    }
  }
  return {
    changes: changes.map(({ suspect: { sentence }, effect, tried }) => ({ sentence, effect, tried })),
    frames: steered,
    different,
    wrong,
  };
}

function textOf({ frame, entry, metadata }: Prepared): string {
  const hex = Array.from(frame, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex} from ${JSON.stringify(entry.source)} with ${metadata}`;
}

function matches({ mask, value, ranges }: KeyMatch, key: Uint8Array): boolean {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return (
    mask.every((bits, byte) => (bits & key[byte]!) === value[byte]) &&
    ranges.every(({ dword, shift, fieldMask, low, high }) => {
      const field = ((view.getUint32(dword) >>> shift) & fieldMask) >>> 0;
      return low <= field && field <= high;
    })
  );
}
