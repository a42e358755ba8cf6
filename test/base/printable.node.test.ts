/** What a program prints that nobody catches the refusal of. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const PROGRAM = `
  import { createDevice } from "./dist/index.js";
  import { ibv_close_device, ibv_open_device } from "./dist/verbs.js";
  const context = ibv_open_device(await createDevice());
  console.log(context.device);
  ibv_close_device({ context }.context);
  ibv_open_device(context.device);
  context.device.close();
`;

test("an uncaught refusal is its message, its stack and its fields", () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("SteeringError: device.close: device = flowsteer0: the object is still in use (EBUSY)");
  expect(stderr).toContain("errno: 16");
  expect(stderr).not.toContain("exports");
  expect(stderr.split("\n").length).toBeLessThan(30);
  expect(stdout).toMatch(/^Device \{\n {2}name: flowsteer0,\n/);
  expect(stdout.split("\n").length).toBeLessThan(15);
});
