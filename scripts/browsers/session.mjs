/**
 * A page in a browser, by commands of WebDriver (W3C "WebDriver", the classic protocol).
 *
 * A driver sends a command and gives its value: `send(name, parameters)`, with the names of Firefox's
 * Marionette: "Navigate", "ExecuteAsyncScript", "PerformActions", "TakeScreenshot", "SetWindowRect".
 */
/* global probe */
import { setTimeout as sleep } from "node:timers/promises";

/** Keys without a character: the code points of WebDriver. */
export const KEYS = {
  control: "\ue009",
  home: "\ue011",
  end: "\ue010",
  escape: "\ue00c",
  enter: "\ue007",
  down: "\ue015",
  delete: "\ue017",
};

export class Session {
  #driver;

  constructor(driver) {
    this.#driver = driver;
  }

  get name() {
    return this.#driver.name;
  }

  async open(url) {
    await this.#driver.send("Navigate", { url });
  }

  async resize(width, height) {
    await this.#driver.send("SetWindowRect", { x: 0, y: 0, width, height });
  }

  /** Runs an async function in the page. It reaches nothing but its arguments, which are JSON. */
  async run(fn, ...args) {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve().then(() => (${fn})(...[...arguments].slice(0, -1))).then(
        (value) => done({ value: value ?? null }), (error) => done({ error: String(error) }));`;
    const { value, error } = await this.#driver.send("ExecuteAsyncScript", { script, args });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Waits until a function of the page gives a value that counts as true. */
  async until(what, fn, args = [], seconds = 60) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const value = await this.run(fn, ...args);
      if (value) return value;
      if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
      await sleep(100);
    }
  }

  /** Presses keys one after the other; with `held`, while that one is down. */
  async press(keys, held) {
    const strokes = [...keys].flatMap((value) => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ]);
    const actions =
      held === undefined ? strokes : [{ type: "keyDown", value: held }, ...strokes, { type: "keyUp", value: held }];
    await this.#driver.send("PerformActions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** Clicks the middle of an element with the mouse. */
  async click(selector, text) {
    const { x, y } = await this.until(`${selector} ${text ?? ""}`, (selector, text) => probe.middle(selector, text), [
      selector,
      text ?? null,
    ]);
    const actions = [
      { type: "pointerMove", x, y, duration: 0 },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    await this.#driver.send("PerformActions", { actions: [{ type: "pointer", id: "mouse", actions }] });
  }

  /** @returns a PNG of the window's content */
  async screenshot() {
    return Buffer.from(await this.#driver.send("TakeScreenshot", { full: false, hash: false }), "base64");
  }

  async close() {
    await this.#driver.close();
  }
}
