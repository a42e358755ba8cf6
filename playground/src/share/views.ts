/** The dialogs of sharing; each is loaded when it is opened for the first time. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { ViewProps } from "../parts/viewProps.js";
import { registerCommands } from "../state/commands.js";

export const shareView = signal<ComponentType<ViewProps> | null>(null);

async function showShare(): Promise<void> {
  shareView.value = (await import("./shareDialog.js")).ShareDialog;
}

async function showTakeAway(): Promise<void> {
  shareView.value = (await import("./takeAwayDialog.js")).TakeAwayDialog;
}

export function registerSharing(): void {
  registerCommands([
    { id: "share.link", title: "Share a link", bar: "Share", run: () => void showShare() },
    {
      id: "share.takeAway",
      title: "Export: download rules, captures, programs and tests",
      bar: "Export",
      run: () => void showTakeAway(),
    },
  ]);
}
