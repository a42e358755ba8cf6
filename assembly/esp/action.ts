/**
 * ESP flow actions (docs/esp.md). In: a branch and an association. Out: the branch encrypted or
 * decrypted, or dropped.
 *
 * This file selects the way: encrypt or decrypt, full offload or inline crypto, one packet or a
 * batch in two steps.
 */
import { Reason } from "../../src/abi/outcome";
import { ESP_ENCRYPT, ESP_FLAGS, ESP_FULL_OFFLOAD, ESP_METADATA, ESP_SIZE } from "../../src/abi/esp";
import { seal } from "../crypto/gcm";
import { SINGLE_JOB } from "../memory";
import { drop } from "../branch/outcome";
import { BRANCH_FLAGS, ESP_BITS, ESP_SHIFT } from "../branch/branch";
import { decrypt, finishDecrypt, prepareDecrypt } from "./decrypt";
import { encrypt } from "./encrypt";
import { ENDED, Prepared } from "./end";
import { decryptInline, encryptInline } from "./inline";
import { NOT_ASKED, putMetadata, takeMetadata } from "./metadata";
import { StateKind } from "../../src/abi/trace";
import { noteState } from "../branch/events";

/** Runs the action; returns whether the branch continues. */
export function esp(branch: usize, association: usize): bool {
  if (TRACED) noteState(StateKind.esp, association, ESP_SIZE);
  const flags = load<u32>(association, ESP_FLAGS);
  if (!(flags & ESP_ENCRYPT)) {
    return flags & ESP_FULL_OFFLOAD ? decrypt(branch, association) : openInline(branch, association, flags);
  }
  if (prepareEncrypt(branch, association, SINGLE_JOB) != Prepared.ready) return false;
  seal(SINGLE_JOB);
  return true;
}

/** Prepares a packet for sealing and lays out its job. */
function prepareEncrypt(branch: usize, association: usize, job: usize): Prepared {
  const flags = load<u32>(association, ESP_FLAGS);
  const goesOn =
    flags & ESP_FULL_OFFLOAD ? encrypt(branch, association, job) : prepareInline(branch, association, flags, job);
  return goesOn ? Prepared.ready : Prepared.ended;
}

function prepareInline(branch: usize, association: usize, flags: u32, job: usize): bool {
  const next = flags & ESP_METADATA ? takeMetadata(branch) : 0;
  if (next == NOT_ASKED) return drop(branch, Reason.esp_metadata);
  return next != ENDED && encryptInline(branch, association, next, job);
}

/**
 * First of two steps, for packets that are sealed or opened together: lays out the job for the
 * cipher.
 */
export function prepare(branch: usize, association: usize, job: usize): Prepared {
  const flags = load<u32>(association, ESP_FLAGS);
  // Unreached: frames are sent one by one, and received ones are only decrypted.
  if (flags & ESP_ENCRYPT) return prepareEncrypt(branch, association, job);
  return flags & ESP_FULL_OFFLOAD ? prepareDecrypt(branch, association, job) : Prepared.alone;
}

/** Second step, after the cipher is done; returns whether the branch continues. */
export function finish(branch: usize, association: usize, job: usize): bool {
  const encrypts = (load<u32>(association, ESP_FLAGS) & ESP_ENCRYPT) != 0;
  return encrypts || finishDecrypt(branch, association, job);
}

/** Opens the packet and stores the result for the completion (src/abi/outcome.ts, DEST_ESP). */
function openInline(branch: usize, association: usize, flags: u32): bool {
  const how = decryptInline(branch, association);
  if (how == ENDED) return false;
  store<u32>(branch, (load<u32>(branch, BRANCH_FLAGS) & ~ESP_BITS) | (how << ESP_SHIFT), BRANCH_FLAGS);
  return !(flags & ESP_METADATA) || putMetadata(branch, how);
}
