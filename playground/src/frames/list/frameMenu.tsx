/** The menu of the selected frame. */
import type { JSX } from "preact";
import { ContextMenu, type MenuPlace } from "../../parts/contextMenu.js";
import { selectedFrame } from "../../state/selection.js";
import { frameActions } from "../frameActions.js";

interface FrameMenuProps {
  readonly place: MenuPlace;
  readonly onClose: () => void;
}

export function FrameMenu({ place, onClose }: FrameMenuProps): JSX.Element {
  const items = frameActions.map(({ can, ...action }) => ({ ...action, disabled: !can() }));
  return <ContextMenu label={`Frame ${selectedFrame.value ?? ""}`} place={place} items={items} onClose={onClose} />;
}
