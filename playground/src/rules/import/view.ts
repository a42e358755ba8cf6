/** The dialog "Import rules", which is loaded when it is opened for the first time. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { ViewProps } from "../../parts/viewProps.js";
import { importSource } from "./source.js";

export const importView = signal<ComponentType<ViewProps> | null>(null);

/** Opens the dialog, with a text that was pasted or dropped. */
export async function showImport(text = "", file = "pasted"): Promise<void> {
  importSource.value = { text, file };
  importView.value = (await import("./importDialog.js")).ImportDialog;
}
