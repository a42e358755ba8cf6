/** The pane "Path" in a browser: a miss answers, steps, bytes, questions and repairs, by mouse and keyboard. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildFrame } from "../../../src/packet/index.js";
import { encodeLink, type Shared } from "../../../playground/src/state/link.js";
import { exampleOf, openFiles } from "../frames/support.js";
import { type OpenPage, openPlayground, type Playground, rulesEditor } from "../support/page.js";

let playground: Playground;
let opened: OpenPage | null = null;
beforeAll(async () => {
  playground = await openPlayground();
});
afterEach(async () => {
  expect(opened?.faults).toEqual([]);
  await opened?.context.close();
});
afterAll(async () => playground.close());

function example(name: string): string {
  return readFileSync(new URL(`../../../examples/${name}.json`, import.meta.url), "utf8");
}

/** The page with a frame selected, as a shared link opens it. */
async function openFrame(rules: string, frame: number, step = 0, capture: Shared["capture"] = null): Promise<Page> {
  const nothing = { source: null, path: null, field: null, filter: {}, left: null };
  const path = await encodeLink({ rules, name: "test", frame, step, capture, ...nothing });
  opened = await playground.open({ path });
  await opened.page.getByRole("heading", { name: `Path of frame ${frame}` }).waitFor();
  await steps(opened.page).first().waitFor();
  return opened.page;
}

function steps(page: Page): ReturnType<Page["locator"]> {
  return page.getByRole("list", { name: "Steps of the frame" }).getByRole("button");
}

function current(page: Page): ReturnType<Page["locator"]> {
  return page.locator('[aria-current="step"]');
}

async function stepIs(page: Page, number: number): Promise<void> {
  await page.getByRole("group", { name: "Steps", exact: true }).getByText(`step ${number} of`).waitFor();
}

test("a miss shows its answer without a click, and more on request", async () => {
  const page = await openFrame(example("why-vxlan"), 2);
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText("no flow or rule of the PF accepts the frame").waitFor();
  await why.getByText("tunnel on other port").waitFor();
  expect(await why.getByRole("list", { name: "Chain of reasons" }).count()).toBe(0);
  await why.getByRole("button", { name: "More" }).click();
  await why
    .getByRole("list", { name: "Chain of reasons" })
    .getByText(/UDP port 8472 is not 4789/)
    .first()
    .waitFor();
  await why.getByRole("heading", { name: "Nearest rules" }).waitFor();
});

test("steps go by buttons, keys and the list", async () => {
  const page = await openFrame(example("why-vxlan"), 2);
  await stepIs(page, 1);
  await page.getByRole("button", { name: "Next step" }).click();
  await stepIs(page, 2);
  await page.keyboard.press("Enter");
  await stepIs(page, 3);
  await page.getByRole("button", { name: "Previous step" }).click();
  await stepIs(page, 2);
  await page.keyboard.press("n");
  await stepIs(page, 3);
  await page.keyboard.press("p");
  await stepIs(page, 2);
  expect(await current(page).textContent()).toContain('rule "tunnels" matches');
  await page.getByRole("button", { name: /overlay, 2 rules, none matches/ }).click();
  await stepIs(page, 4);
  await page.getByText('nearest: rule "net 5001"', { exact: true }).waitFor();
});

test("a step marks the bytes that it inserted, and the tree opens what changed", async () => {
  const page = await openFrame(example("rules-mirror"), 1);
  const reformat = page.getByRole("button", { name: /adds an L2 tunnel, 42 bytes/ });
  await reformat.click();
  const grid = page.getByRole("grid", { name: "Bytes of the frame, 96" });
  await grid.waitFor();
  expect(await grid.locator('.hex-byte[data-mark="inserted"]').count()).toBe(42);
  await page.getByRole("treeitem", { name: /^gre/ }).waitFor();
  await page.getByText("this step: 42 bytes inserted").waitFor();
});

test("a field lights its bytes, and a byte its field, by keyboard too", async () => {
  const page = await openFrame(example("why-vxlan"), 2, 1);
  await page.getByRole("button", { name: "outer.ipv4_dst" }).click();
  const lit = page.locator(".hex-byte[data-lit]");
  expect(await lit.allTextContents()).toEqual(["cb", "00", "71", "07"]);
  await page.getByText("outer.ipv4_dst: bytes 30 to 33, the rule masks 24 of 32 bits").waitFor();
  await page.locator('.hex-byte[data-at="33"]').click();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/outer.udp_sport: bytes 34 to 35/).waitFor();
  const tree = page.getByRole("tree", { name: "Headers" });
  await tree
    .getByRole("treeitem", { name: /source_port 49152/, selected: true })
    .last()
    .waitFor();
  await page.keyboard.press("Control+End");
  await page.getByText(/bytes 42 to 103/).waitFor();
  await tree.getByRole("treeitem", { name: /^udp/ }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText(/outer.udp_dport: bytes 36 to 37/).waitFor();
});

test("a rule that did not match says why, bit by bit", async () => {
  const page = await openFrame(example("why-port"), 2);
  const picture = page.getByRole("group", { name: /Picture of the pipeline/ });
  await picture.getByRole("button", { name: "flow https" }).click();
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText('Why not flow "https"?').waitFor();
  await why.getByText("outer.tcp_dport is 443, not 47873").first().waitFor();
  await why.getByRole("button", { name: "More" }).click();
  await why.getByRole("img", { name: "10 of 16 bits differ" }).first().waitFor();
  await why.getByRole("button", { name: "Back to the end of the frame" }).click();
  await why.getByText("Why not flow").waitFor({ state: "hidden" });
});

test("the keyboard walks through the picture, and Enter asks", async () => {
  const page = await openFrame(example("why-vxlan"), 2);
  const picture = page.getByRole("group", { name: /Picture of the pipeline/ });
  await picture.getByRole("button", { name: "rule net 5001" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText('Why not rule "net 5002"?').waitFor();
  await page.keyboard.press("f");
});

test("the form asks for any object, and says what there is not", async () => {
  const page = await openFrame(example("why-vxlan"), 2);
  const why = page.getByRole("region", { name: "Why" });
  await why.getByRole("button", { name: "More" }).click();
  await why.getByRole("combobox", { name: "Kind of target" }).selectOption("queue");
  await why.getByRole("combobox", { name: "Name of the queue" }).fill("blue");
  await why.getByRole("button", { name: "Explain" }).click();
  await why.getByText('Why not queue "blue"?').waitFor();
  await why
    .getByText(/rule "to blue" delivers to qp:blue/)
    .first()
    .waitFor();
  await why.getByRole("combobox", { name: "Name of the queue" }).fill("nobody");
  await why.getByRole("button", { name: "Explain" }).click();
  await why
    .getByText(/nobody/)
    .first()
    .waitFor();
});

test("a repair of the rules delivers the frame, and one of the frame too", async () => {
  const page = await openFrame(example("why-port"), 2);
  await page
    .getByRole("group", { name: /Picture of the pipeline/ })
    .getByRole("button", { name: "flow https" })
    .click();
  const why = page.getByRole("region", { name: "Why" });
  await why.getByRole("button", { name: /Try repair: In flow "https" match tcp.dst_port 443/ }).click();
  await why.getByText(/^● deliver/).waitFor();
  // One step of the editor's history.
  await rulesEditor(page).click();
  await page.keyboard.press("Control+z");
  await why.getByText(/^▼ miss/).waitFor();
  await opened?.context.close();
  const device = await openFrame(example("why-vxlan"), 2);
  await device.getByRole("button", { name: "Try repair: Register UDP port 8472" }).click();
  await device
    .getByRole("region", { name: "Why" })
    .getByText(/^● deliver/)
    .waitFor();
  await opened?.context.close();
  const other = await openFrame(example("why-vxlan"), 2);
  await other.getByRole("button", { name: /Try repair: Send the frame with outer.udp_dport 4789/ }).click();
  await other
    .getByRole("region", { name: "Why" })
    .getByText(/^● deliver/)
    .waitFor();
});

/** A table of many rules, and a frame of 9,000 bytes that hits the last but one. */
function largeRules(rules: number): string {
  const ports = Array.from({ length: rules }, (_, i) => i + 1);
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
    { header: "udp", source_port: 1, destination_port: rules - 1 },
    { header: "payload", bytes: new Uint8Array(9000 - 42) },
  ]);
  return JSON.stringify({
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables: [{ name: "large", level: 0 }],
    rules: ports.map((port) => ({
      name: `port ${port}`,
      table: "large",
      priority: 0,
      match: { "outer.udp_dport": port },
      actions: [{ queue: "q" }],
    })),
    frames: [{ hex: Buffer.from(frame).toString("hex") }],
  });
}

test("a table of many rules shows the rule that was hit, and more in steps; a long frame is drawn in part", async () => {
  const page = await openFrame(largeRules(1212), 1);
  const picture = page.getByRole("group", { name: /Picture of the pipeline/ });
  await picture.getByRole("button", { name: "rule port 1211, hit" }).waitFor();
  expect(await picture.getByRole("button", { name: /^rule port/ }).count()).toBe(9);
  await picture.getByRole("button", { name: "Show more of 1,203 hidden rules" }).press("Enter");
  await picture.getByRole("button", { name: "Show more of 1,153 hidden rules" }).waitFor();
  expect(await picture.getByRole("button", { name: /^rule port/ }).count()).toBe(59);
  const grid = page.getByRole("grid", { name: "Bytes of the frame, 9000" });
  expect(await grid.getByRole("row").count()).toBeLessThan(80);
  await grid.locator('[data-at="0"]').click();
  await page.keyboard.press("Control+End");
  await grid.locator('[data-at="8999"]').waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-at"))).toBe("8999");
});

test("the picture moves by keys, wheel and drag, and fits again", async () => {
  const page = await openFrame(example("rules-overlay"), 2);
  const scene = page.locator(".picture > svg > g");
  const transform = async (): Promise<string> => (await scene.getAttribute("transform")) ?? "";
  const scale = async (): Promise<number> => Number(/scale\(([\d.]+)\)/.exec(await transform())?.[1]);
  await page.keyboard.press("f");
  const whole = await scale();
  const box = await page.locator(".picture > svg").boundingBox();
  const middle = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
  await page.keyboard.press("+");
  await expect.poll(scale).toBeGreaterThan(whole);
  await page.mouse.move(middle.x, middle.y);
  const before = await scale();
  await page.mouse.wheel(0, -200);
  await expect.poll(scale).toBeGreaterThan(before);
  const place = await transform();
  await page.mouse.down();
  await page.mouse.move(middle.x + 60, middle.y + 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(transform).not.toBe(place);
  await page.getByRole("button", { name: "Fit", exact: true }).click();
  await expect.poll(scale).toBe(whole);
});

/** A capture of one frame (pcap, Ethernet). */
function captureOf(frame: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(24 + 16 + frame.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xa1b2c3d4);
  view.setUint16(4, 2);
  view.setUint16(6, 4);
  view.setUint32(16, 65535);
  view.setUint32(20, 1);
  view.setUint32(32, frame.length);
  view.setUint32(36, frame.length);
  bytes.set(frame, 40);
  return bytes;
}

test("a repair of a frame of a capture is added to the document", async () => {
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "198.51.100.9", destination: "192.0.2.80" },
    { header: "tcp", destination_port: 443 },
  ]);
  const page = await openFrame(example("why-port"), 1, 0, { name: "one.pcap", bytes: captureOf(frame) });
  const why = page.getByRole("region", { name: "Why" });
  await why.getByRole("button", { name: /^Add the changed frame to the document: Send the frame/ }).click();
  await rulesEditor(page).click();
  await page.keyboard.press("Control+End");
  await page.getByText('"frame 1 repaired"').waitFor();
});

test("a mistake in the rules greys the last answer", async () => {
  const page = await openFrame(example("why-port"), 2);
  await rulesEditor(page).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("?");
  await page.getByText("from the last rules without errors", { exact: true }).waitFor();
  await page
    .getByRole("region", { name: "Why" })
    .getByText(/^▼ miss/)
    .waitFor();
});

test("at 1,024 pixels the whole picture is in view as it opens, and no text runs over its node", async () => {
  opened = await playground.open({ width: 1024, height: 768 });
  const { page } = opened;
  for (const capture of [null, ["everyday.json", "everyday.pcap"].map(exampleOf)]) {
    if (capture !== null) {
      await openFiles(page, capture);
      await page.getByText(/hidden rules/).waitFor();
    } else await page.locator(".way-line path").first().waitFor();
    const outside = await page.locator(".picture > svg").evaluate((svg) => {
      const [all, slack] = [svg.getBoundingClientRect(), 1];
      const boxes = [...svg.querySelectorAll(".table-node > .box, .end-node > .box")];
      const isOut = ({ left, right, top, bottom }: DOMRect, around: DOMRect): boolean =>
        left < around.left - slack ||
        right > around.right + slack ||
        top < around.top - slack ||
        bottom > around.bottom + slack;
      const texts = [...svg.querySelectorAll(".table-node text")].filter((text) =>
        isOut(
          text.getBoundingClientRect(),
          text.closest(".table-node")!.querySelector(".box")!.getBoundingClientRect(),
        ),
      );
      return [
        ...boxes.filter((box) => isOut(box.getBoundingClientRect(), all)).map((box) => box.parentElement?.textContent),
        ...texts.map(({ textContent }) => textContent),
      ];
    });
    expect(outside).toEqual([]);
  }
});
