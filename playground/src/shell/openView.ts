/** The dialog that is over the page; each is loaded when it is opened for the first time. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { ViewProps } from "../parts/viewProps.js";

export const openView = signal<ComponentType<ViewProps> | null>(null);

export async function showPalette(): Promise<void> {
  openView.value = (await import("./palette.js")).Palette;
}

export async function showKeys(): Promise<void> {
  openView.value = (await import("./keyList.js")).KeyList;
}

export async function showHelp(): Promise<void> {
  openView.value = (await import("./help.js")).Help;
}

/** The lesson above the panes, once the tour was begun. */
export const tourPanel = signal<ComponentType | null>(null);

export async function showTour(): Promise<void> {
  const [{ TourPanel }, { beginTour }] = await Promise.all([import("../tour/panel.js"), import("../tour/tour.js")]);
  tourPanel.value = TourPanel;
  await beginTour();
}
