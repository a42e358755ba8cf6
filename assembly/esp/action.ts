/** ESP flow actions (docs/esp.md): which way a branch goes through one. */
import { Reason } from "../../src/abi/engine";
import { ESP_ENCRYPT, ESP_FLAGS, ESP_FULL_OFFLOAD, ESP_METADATA } from "../../src/abi/esp";
import { BRANCH_FLAGS, ESP_BITS, ESP_SHIFT } from "../steer/branch";
import { decrypt } from "./decrypt";
import { encrypt } from "./encrypt";
import { drop, ENDED } from "./end";
import { decryptInline, encryptInline } from "./inline";
import { NOT_ASKED, putMetadata, takeMetadata } from "./metadata";

/** Whether the branch goes on. */
export function esp(branch: usize, association: usize): bool {
  const flags = load<u32>(association, ESP_FLAGS);
  const encrypts = (flags & ESP_ENCRYPT) != 0;
  if (flags & ESP_FULL_OFFLOAD) return encrypts ? encrypt(branch, association) : decrypt(branch, association);
  const metadata = (flags & ESP_METADATA) != 0;
  if (!encrypts) return openInline(branch, association, metadata);
  const next = metadata ? takeMetadata(branch) : 0;
  if (next == NOT_ASKED) return drop(branch, Reason.esp_metadata);
  return next != ENDED && encryptInline(branch, association, next);
}

/** How it went is for the completions (src/abi/engine.ts, DEST_ESP). */
function openInline(branch: usize, association: usize, metadata: bool): bool {
  const how = decryptInline(branch, association);
  if (how == ENDED) return false;
  store<u32>(branch, (load<u32>(branch, BRANCH_FLAGS) & ~ESP_BITS) | (how << ESP_SHIFT), BRANCH_FLAGS);
  return !metadata || putMetadata(branch, how);
}
