/** The dialog that is over the page; each is loaded when it is opened for the first time. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { ViewProps } from "../parts/viewProps.js";

export const openView = signal<ComponentType<ViewProps> | null>(null);

/** Whether a dialog was asked for and is not there yet. Keys are not for the page then. */
export const viewIsLoading = signal(false);

async function show(load: () => Promise<ComponentType<ViewProps>>): Promise<void> {
  viewIsLoading.value = true;
  try {
    openView.value = await load();
  } finally {
    viewIsLoading.value = false;
  }
}

export const showPalette = (): Promise<void> => show(async () => (await import("./palette.js")).Palette);
export const showKeys = (): Promise<void> => show(async () => (await import("./keyList.js")).KeyList);
export const showHelp = (): Promise<void> => show(async () => (await import("./help.js")).Help);

/** The lesson above the panes, once the tour was begun. */
export const tourPanel = signal<ComponentType | null>(null);

export async function showTour(): Promise<void> {
  const [{ TourPanel }, { beginTour }] = await Promise.all([import("../tour/panel.js"), import("../tour/tour.js")]);
  tourPanel.value = TourPanel;
  await beginTour();
}
