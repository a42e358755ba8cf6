/** The engine's worker in a real browser, spoken to as the page does (comlink's messages). */
import type { Page } from "playwright-core";

interface Window {
  engineCall(name: string, ...args: unknown[]): Promise<unknown>;
  /** What progress said last, and how often it said something. */
  engineProgress: { done: number; total: number; what: string; reports: number };
  /** The longest time between two turns of the worker's event loop, in milliseconds, since it was last asked. */
  engineFile: File;
}

/** Starts a worker of its own, with `file` as `engineFile`. */
export async function startWorker(page: Page, file: string): Promise<void> {
  const input = await page.evaluateHandle(() => {
    const element = document.createElement("input");
    element.type = "file";
    return element;
  });
  await input.setInputFiles(file);
  await page.evaluate((element) => {
    const all = globalThis as unknown as Window;
    all.engineFile = element.files?.[0] as File;
    all.engineProgress = { done: 0, total: 0, what: "", reports: 0 };
    const worker = new Worker("./engine.js", { type: "module" });
    const waiting = new Map<string, (value: unknown) => void>();
    worker.addEventListener("message", ({ data }: MessageEvent<{ id: string; value: unknown }>) => {
      waiting.get(data.id)?.(data.value);
    });
    all.engineCall = (name, ...args) =>
      new Promise((resolve) => {
        const id = crypto.randomUUID();
        waiting.set(id, resolve);
        const ports: MessagePort[] = [];
        const argumentList = args.map((value) => {
          if (value !== "progress") return { type: "RAW", value };
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = ({ data }: MessageEvent<{ argumentList?: { value: unknown }[] }>) => {
            const [done, total, what] = (data.argumentList ?? []).map((one) => one.value) as [number, number, string];
            all.engineProgress = { done, total, what, reports: all.engineProgress.reports + 1 };
          };
          ports.push(port2);
          return { type: "HANDLER", name: "proxy", value: port2 };
        });
        worker.postMessage({ id, type: "APPLY", path: [name], argumentList }, ports);
      });
  }, input);
}

/** Calls the engine. "progress" stands for a function that is called with progress, "file" for the file. */
export async function callWorker<T>(page: Page, name: string, ...args: unknown[]): Promise<{ value: T; ms: number }> {
  return page.evaluate(
    async ([called, given]) => {
      const all = globalThis as unknown as Window;
      const began = performance.now();
      const value = await all.engineCall(called, ...given.map((one) => (one === "file" ? all.engineFile : one)));
      return { value, ms: performance.now() - began } as { value: T; ms: number };
    },
    [name, args] as const,
  );
}
