/**
 * Copy on write: gives a branch bytes of its own before they change, with room for headers in
 * front. In: a branch and the room that a change needs. Out: the frame descriptor points to bytes
 * that may be written.
 *
 * A received frame has FRAME_HEAD_ROOM bytes in front of it. If the bytes are shared, or the room
 * is too small, the frame moves to a block. Blocks are allocated from the arena when needed and
 * kept for later batches; they do not count as used memory.
 */
import { FRAME_ADDRESS, FRAME_HEAD_ROOM, FRAME_LENGTH, FRAME_WIRE_LENGTH, MAX_FRAME } from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import { allocate, Arena } from "../arena";
import { drop } from "./outcome";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_ROOM, CHANGED, SHARED, STALE_KEY, STALE_MAP } from "./branch";

/** A block: | next block 4 | its size 4 | 0 8 | bytes ... |. Each is larger than the one before. */
const FIRST_BLOCK: u32 = 1 << 14;
const LAST_BLOCK: u32 = 1 << 20;
const BLOCK_SIZE: usize = 4;
const BLOCK_HEAD: usize = 16;

namespace FrameBlocks {
  export let first: usize = 0;
  export let current: usize = 0;
  export let next: usize = 0;
}

/** Empties all blocks before the first change of a batch. */
export function openFrameBlocks(): void {
  FrameBlocks.current = FrameBlocks.first;
  FrameBlocks.next = FrameBlocks.first + BLOCK_HEAD;
}

/** Forgets all blocks. */
export function dropFrameBlocks(): void {
  FrameBlocks.first = 0;
}

/**
 * Gives a branch bytes of its own, with `head` writable bytes in front. MODEL: when memory is full
 * the branch is dropped with `copy_limit`, and the result is false.
 */
export function copyOnWrite(branch: usize, head: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const address: usize = load<u32>(frame, FRAME_ADDRESS);
  const flags = load<u32>(branch, BRANCH_FLAGS);
  if (!(flags & CHANGED)) store<u32>(branch, <u32>(address - FRAME_HEAD_ROOM), BRANCH_ROOM);
  if (!(flags & SHARED) && address - <usize>load<u32>(branch, BRANCH_ROOM) >= head) {
    store<u32>(branch, flags | CHANGED, BRANCH_FLAGS);
    return true;
  }
  return copyBytes(branch, head, load<u32>(frame, FRAME_LENGTH), 0);
}

/**
 * Copies the first `length` bytes, with `head` writable bytes in front and `tail` writable bytes
 * after them.
 */
export function copyBytes(branch: usize, head: usize, length: usize, tail: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const room = take(head + length + tail + FRAME_HEAD_ROOM);
  if (room == 0) return drop(branch, Reason.copy_limit);
  const copy = room + head + FRAME_HEAD_ROOM;
  memory.copy(copy, load<u32>(frame, FRAME_ADDRESS), length);
  store<u32>(frame, <u32>copy, FRAME_ADDRESS);
  store<u32>(branch, <u32>room, BRANCH_ROOM);
  store<u32>(branch, (load<u32>(branch, BRANCH_FLAGS) & ~SHARED) | CHANGED, BRANCH_FLAGS);
  return true;
}

/**
 * Moves the start of a frame by `bytes`; negative to add bytes in front, which must be the branch's
 * own.
 */
export function moveStart(branch: usize, bytes: i32): void {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const flags = load<u32>(branch, BRANCH_FLAGS);
  const address = load<u32>(frame, FRAME_ADDRESS);
  if (!(flags & CHANGED)) store<u32>(branch, address - FRAME_HEAD_ROOM, BRANCH_ROOM);
  store<u32>(frame, address + bytes, FRAME_ADDRESS);
  store<u32>(frame, load<u32>(frame, FRAME_LENGTH) - bytes, FRAME_LENGTH);
  store<u32>(frame, load<u32>(frame, FRAME_WIRE_LENGTH) - bytes, FRAME_WIRE_LENGTH);
  store<u32>(branch, flags | CHANGED | STALE_KEY | STALE_MAP, BRANCH_FLAGS);
}

/**
 * Whether a frame may grow by `more` bytes on the wire; else it is dropped. A capture may claim any
 * wire length.
 */
export function fits(branch: usize, more: u32): bool {
  const wire: u64 = load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_WIRE_LENGTH);
  return wire + <u64>more <= <u64>MAX_FRAME || drop(branch, Reason.frame_too_long);
}

/**
 * Takes `bytes` bytes of a block; 0 when memory is full. A frame with its head room always fits
 * LAST_BLOCK.
 */
function take(bytes: usize): usize {
  while (FrameBlocks.current == 0 || FrameBlocks.next + bytes > endOf(FrameBlocks.current)) {
    if (!nextBlock(bytes)) return 0;
  }
  const taken = FrameBlocks.next;
  FrameBlocks.next = taken + ((bytes + 15) & ~15);
  return taken;
}

// @ts-ignore: decorator
@inline
function endOf(block: usize): usize {
  return block + <usize>load<u32>(block, BLOCK_SIZE);
}

/** Goes on to the next block, a new one of at least `bytes` bytes after the last. */
function nextBlock(bytes: usize): bool {
  const before = FrameBlocks.current;
  let block: usize = before == 0 ? 0 : load<u32>(before);
  if (block == 0) {
    let size = before == 0 ? FIRST_BLOCK : min<u32>(load<u32>(before, BLOCK_SIZE) << 1, LAST_BLOCK);
    while (<usize>size < bytes + BLOCK_HEAD) size <<= 1;
    block = allocate(size);
    if (block == 0) return false;
    Arena.used -= size;
    store<u32>(block, 0);
    store<u32>(block, size, BLOCK_SIZE);
    if (before == 0) FrameBlocks.first = block;
    else store<u32>(before, <u32>block);
  }
  FrameBlocks.current = block;
  FrameBlocks.next = block + BLOCK_HEAD;
  return true;
}
