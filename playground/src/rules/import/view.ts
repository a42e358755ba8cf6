/** The dialog "Import rules", which is loaded when it is opened for the first time. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { ViewProps } from "../../parts/viewProps.js";

export const importView = signal<ComponentType<ViewProps> | null>(null);

/** Opens the dialog. */
export async function showImport(): Promise<void> {
  importView.value = (await import("./importDialog.js")).ImportDialog;
}
