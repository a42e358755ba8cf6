/** What the page opens: a shared link, files of the command, kept work, or an example. */
import { batch, effect } from "@preact/signals";
import { closeCapture, openCapture, openFile } from "../state/capture.js";
import { newSource, openedRules, openRules, source } from "../state/document.js";
import { notify } from "../state/notices.js";
import { filter, selectedField, selectedFrame, selectedPath, selectedStep, way } from "../state/selection.js";
import { showGood } from "../state/steering.js";
import type { Shared } from "../state/link.js";
import { bytesText } from "../parts/format.js";
import { keepAs, keepNow, keepOnceEdited, startKeeping, tell } from "./keeping.js";
import { findWork, isEdited, keptCapture, newerOf, type FoundWork, type KeptWork } from "./kept.js";
import { readLink } from "./loading.js";
import { filesOfCommand, type CommandFiles } from "./opened.js";
import { lastId } from "./tab.js";

const EXAMPLE = "why-vxlan";
/** Milliseconds in which the database must answer: one that is broken may never do. */
const PATIENCE = 5000;

/** Opens what the address asks for, or what was kept; then keeps what is edited. */
export async function openFirst(): Promise<void> {
  const own = newerOf(
    await Promise.race([findWork(lastId()), silence()]).catch((error: unknown) => {
      tell(error);
      return null;
    }),
  );
  const shared = await readLink(location.hash);
  const files = shared === null ? await filesOfCommand() : null;
  if (shared !== null) await openShared(shared, own);
  else if (files !== null) await openFiles(files, own);
  else if (own !== null) await openKept(own);
  else await openExample();
  startKeeping();
  addEventListener("hashchange", () => void askForLink());
}

async function silence(): Promise<never> {
  await new Promise((resolve) => void setTimeout(resolve, PATIENCE));
  throw new Error("the database does not answer");
}

/** A link that comes while the page is open is opened when the person says so. */
async function askForLink(): Promise<void> {
  const fragment = location.hash;
  const shared = await readLink(fragment);
  if (!fragment.startsWith("#share=")) return;
  clearFragment();
  if (shared === null) return;
  const open = async (): Promise<void> => {
    await keepNow();
    const own = await findWork(lastId()).catch(() => null);
    history.replaceState(null, "", fragment);
    await openShared(shared, own);
  };
  notify({
    id: "link",
    text: `The address has shared rules, "${shared.name}". Your own rules are kept if you open them.`,
    actions: [{ title: "Open shared rules", run: () => void open() }],
  });
}

async function openShared(shared: Shared, own: FoundWork | null): Promise<void> {
  const { rules, name, capture, left } = shared;
  const file = capture === null ? null : { file: new Blob([Uint8Array.from(capture.bytes)]), name: capture.name };
  await show({ ...shared, opened: rules }, file);
  selectedField.value = shared.field;
  keepOnceEdited(clearFragment);
  if (own !== null && isEdited(own.work)) offer("You opened a shared link. Your own rules are kept.", own);
  if (left !== null) {
    notify({
      id: "left",
      text: `The capture "${left.name}" (${bytesText(left.size)}) of "${name}" is not in the link. Ask for it, and open it here.`,
      actions: [{ title: "Open a capture", run: chooseCapture }],
    });
  }
}

async function openFiles(files: CommandFiles, own: FoundWork | null): Promise<void> {
  const { name } = files;
  if (own?.work.origin === originOf(files)) {
    await openKept(own);
    notify({
      id: "own",
      text: `Your edits of "${name}" are shown.`,
      actions: [{ title: "Open the file as it is", run: () => void showFiles(files) }],
    });
    return;
  }
  await showFiles(files);
  if (own !== null && isEdited(own.work)) {
    offer(`You opened "${name}" from its file. What you edited before is kept.`, own);
  }
}

async function showFiles(files: CommandFiles): Promise<void> {
  const { rules, reading, name, capture } = files;
  const text = reading === null ? rules : "";
  const of = reading === null ? null : newSource(rules, name, reading);
  await show({ rules: text, source: of, name, opened: text, frame: null, step: 0, path: null, filter: {} }, capture);
  keepOnceEdited(() => undefined, originOf(files));
}

/** What says that work began with these files: their names and the text. Another text is opened in place of the work. */
function originOf({ name, rules, capture, reading }: CommandFiles): string {
  return JSON.stringify([name, capture?.name ?? null, reading, rules]);
}

async function openKept({ id, work }: FoundWork): Promise<void> {
  const { capture } = work;
  const file = capture === null ? null : await keptCapture(id).catch(() => null);
  const lacking = file === null ? capture : null;
  if (work.good !== undefined) await showGood(work.good);
  await show(work, file === null || capture === null ? null : { file, name: capture.name });
  // Another tab may have this id: keepAs then takes a new one.
  keepAs(id, lacking, work.origin);
  if (lacking !== null) {
    notify({
      id: "left",
      text: `The capture "${lacking.name}" (${bytesText(lacking.size)}) was open. It is too long to be kept: open it again.`,
      actions: [{ title: "Open the capture", run: chooseCapture }],
    });
  }
}

async function openExample(): Promise<void> {
  const example = await fetch(`./examples/${EXAMPLE}.json`);
  openRules(await example.text(), EXAMPLE);
  keepAs(lastId());
}

/** Says what was opened, and offers the work of before. */
function offer(text: string, own: FoundWork): void {
  const back = async (): Promise<void> => {
    await keepNow();
    if (location.hash !== "") history.pushState(null, "", location.pathname + location.search);
    await openKept(own);
  };
  notify({ id: "own", text, actions: [{ title: "Go back to them", run: () => void back() }] });
}

type Shown = Omit<KeptWork, "at" | "capture">;

/** Shows rules, capture and selection. */
async function show(work: Shown, capture: { readonly file: Blob; readonly name: string } | null): Promise<void> {
  batch(() => {
    openRules(work.rules, work.name);
    source.value = work.source ?? null;
    openedRules.value = work.opened;
    filter.value = work.filter;
    selectedPath.value = work.path;
    way.value = null;
  });
  if (capture !== null) await openCapture(capture.file, capture.name, true);
  else if (openFile.peek() !== null) await closeCapture(true);
  selectedFrame.value = work.frame;
  if (work.frame !== null && work.step > 0) selectStep(work.frame, work.step);
}

/** Selects a step as soon as the path of the frame is there. */
function selectStep(frame: number, step: number): void {
  const end = effect(() => {
    const found = way.value?.frame === frame ? way.value : null;
    if (found !== null) selectedStep.value = Math.min(step, found.trace.steps.length - 1);
    if (found !== null || selectedFrame.value !== frame) queueMicrotask(() => end());
  });
}

function chooseCapture(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".pcap,.pcapng,.cap,.gz";
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    if (file !== undefined) void openCapture(file, file.name);
  });
  input.click();
}

function clearFragment(): void {
  history.replaceState(null, "", location.pathname + location.search);
}
