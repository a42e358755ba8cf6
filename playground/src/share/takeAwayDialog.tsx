/** The dialog "Export". */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { engine } from "../engine/client.js";
import { Dialog } from "../parts/dialog.js";
import { bytesText, countText } from "../parts/format.js";
import { refusals } from "../state/answer.js";
import { stopWriting } from "./out/client.js";
import { sections, type Item, type Made } from "./takeAway.js";
import type { ViewProps } from "../parts/viewProps.js";

/** Milliseconds before work under way is shown. */
const PATIENCE = 200;

/** Characters of a preview. */
const PREVIEW = 4000;

/** What is under way, and how far. */
interface Doing {
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

/** How an item begins. */
interface Preview {
  readonly of: string;
  readonly text: string;
}

export function TakeAwayDialog({ onClose }: ViewProps): JSX.Element {
  const said = useSignal("");
  const preview = useSignal<Preview | null>(null);
  const doing = useSignal<Doing | null>(null);
  useEffect(() => stopWriting, []);
  /** Makes an item, and says what came of it. */
  const make = async (item: Item, use: (made: Made) => Promise<string>): Promise<void> => {
    const began = performance.now();
    said.value = "";
    try {
      const made = await item.make((done, total, what) => {
        if (performance.now() - began > PATIENCE) doing.value = { what, done, total };
      });
      said.value = made === null ? `${item.title}: stopped.` : [await use(made), made.lacks ?? ""].join(" ").trim();
    } catch (error) {
      said.value = error instanceof Error ? error.message : String(error);
    } finally {
      doing.value = null;
    }
  };
  /** Shows how the text of an item begins, or hides it. */
  const show = (of: string, item: Item): void => {
    const isShown = preview.peek()?.of === of;
    preview.value = null;
    if (isShown) return;
    void make(item, async ({ blob, file }) => {
      const text = await blob.text();
      const rest = Math.max(0, text.length - PREVIEW);
      preview.value = {
        of,
        text: rest === 0 ? text : `${text.slice(0, PREVIEW)}\n… ${countText(rest)} characters more`,
      };
      return `${file}: ${bytesText(blob.size)}.`;
    });
  };
  const wrong = refusals.value.length > 0;
  const shown = wrong ? sections().slice(0, 1) : sections();
  return (
    <Dialog title="Export" class="take-away" onClose={onClose}>
      {shown.map(({ title, items }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <ul>
            {items.map((item) => (
              <li key={item.title}>
                <span class="take-what">
                  {item.title} <span class="muted">{item.about}</span>
                </span>
                <span class="take-how">
                  {item.copies && (
                    <>
                      <button
                        type="button"
                        aria-label={`Preview: ${item.title}`}
                        aria-expanded={preview.value?.of === `${title}/${item.title}`}
                        onClick={() => show(`${title}/${item.title}`, item)}
                      >
                        Preview
                      </button>
                      <button type="button" aria-label={`Copy: ${item.title}`} onClick={() => void make(item, copy)}>
                        Copy
                      </button>
                    </>
                  )}
                  <button type="button" aria-label={`Download: ${item.title}`} onClick={() => void make(item, save)}>
                    Download
                  </button>
                </span>
                {preview.value?.of === `${title}/${item.title}` && (
                  <pre class="take-preview" tabIndex={0} aria-label={`Preview of ${item.title}`}>
                    {preview.value.text}
                  </pre>
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {wrong && <p>The rules have errors: correct them to download captures, outcomes and code.</p>}
      {doing.value !== null && <Working {...doing.value} />}
      <p role="status" aria-live="polite" class="said">
        {said.value}
      </p>
    </Dialog>
  );
}

function Working({ what, done, total }: Doing): JSX.Element {
  const stop = (): void => {
    stopWriting();
    void engine().stop();
  };
  return (
    <p class="take-work">
      <span id="take-what">{what}</span>
      <progress aria-labelledby="take-what" {...(total > 0 ? { value: done, max: total } : {})} />
      <button type="button" onClick={stop}>
        Stop
      </button>
    </p>
  );
}

async function copy({ blob, file }: Made): Promise<string> {
  const text = await blob.text();
  try {
    await navigator.clipboard.writeText(text);
    return `${file} was copied.`;
  } catch {
    return `The browser blocked the copy: download ${file} instead.`;
  }
}

function save({ blob, file }: Made): Promise<string> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return Promise.resolve(`${file} was saved.`);
}
