/** What a share writes on a full device is refused with the name of its file. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NumberedCaptures } from "../../../src/cli/farm/merge/numberedCaptures.js";
import { CommandRefusal } from "../../../src/cli/refusal.js";
import { scratch } from "../support/command.js";

const FULL = "/dev/full";

it.skipIf(!existsSync(FULL)).each(["numbers-0", "qp-web.pcapng"])("%s", (file) => {
  const folder = scratch(`full-${file}`);
  mkdirSync(folder);
  symlinkSync(FULL, join(folder, file));
  const captures = new NumberedCaptures(folder);
  captures.addTo("qp:web", { time: 0n, linkType: 1, bytes: new Uint8Array(60), wireLength: 60, number: 1 });
  const error = caught(() => captures.close());
  expect(error).toBeInstanceOf(CommandRefusal);
  const { file: named, refusal } = error as CommandRefusal;
  expect({ named, reason: refusal.reason, hint: refusal.hint }).toEqual({
    named: join(folder, file),
    reason: "cannot_write",
    hint: "no space is left on the device",
  });
});

function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
