/** Two QEMU guests that reach each other by a served device. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/command.js";

const SKIPPED = 77;
/** A folder with boot/vmlinuz-* and lib/modules. */
const { FLOWSTEER_KERNEL: kernel } = process.env;
if (kernel === undefined) console.warn("examples/guests/run.py is not run: FLOWSTEER_KERNEL names no kernel");

it.runIf(kernel !== undefined)("boots two guests", { timeout: 600_000 }, async (context) => {
  const args = [join(root, "examples/guests/run.py"), "--json", "--root", kernel ?? ""];
  const { code, out, err } = await new Promise<{ code: unknown; out: string; err: string }>((resolve) =>
    execFile("python3", [...args, "--", process.execPath, join(root, "dist/cli.js")], (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    ),
  );
  if (code === SKIPPED) {
    console.warn(`examples/guests/run.py is not run: ${err}`);
    context.skip();
  }
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject({
    bytes: 8 << 20,
    same: true,
    telnet: "no answer",
    dropped: { drop_action: {} },
  });
});
