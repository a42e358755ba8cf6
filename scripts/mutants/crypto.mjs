/** Planted faults of AES-GCM: rounds and keys, counters, tails, GHASH, verdicts, and what is overwritten. */

const VECTORS = ["test/assembly/crypto/vectors.test.ts", "test/assembly/crypto/cavp.node.test.ts"];
const AGREE = ["test/assembly/crypto/vectors.test.ts", "test/assembly/crypto/agreement.node.test.ts"];
const REFUSALS = ["test/assembly/crypto/refusals.test.ts"];
const CIPHERS = ["test/assembly/crypto/ciphers.test.ts"];

const at = (sees) => (file, id, search, replace, breaks) => {
  return { id: `gcm-${id}`, file: `assembly/crypto/${file}.ts`, search, replace, breaks, sees };
};

const vectors = at(VECTORS);
const agree = at(AGREE);
const refusals = at(REFUSALS);
const ciphers = at(CIPHERS);

export const CRYPTO = [
  vectors("round", "gate", "const y15 = v128.xor(t1, u5);", "const y15 = v128.xor(t1, u6);", "a gate of the S-box"),
  vectors("roundKeys", "round-constant", "0x11b", "0x11d", "the last two round constants"),
  vectors("roundKeys", "long-keys", "words == 8 && i % 8 == 4", "words > 8", "the schedule of keys of 32 bytes"),
  vectors(
    "planes",
    "order-of-rounds",
    "(rounds & 2) != 0 ? OVER_2 : OVER",
    "OVER_2",
    "where 12 rounds leave the bytes",
  ),

  agree("counters", "page-end", "return group % PAGE == PAGE - 1;", "return false;", "the counter that carries"),
  agree("counters", "eighth", "v128.bitselect(own, next, i8x16.splat(0x7f))", "own", "the eighth counter of a group"),
  agree(
    "stream",
    "page-kept",
    "Stream.job != job || Stream.page != page",
    "Stream.job != job",
    "blocks behind the first 256",
  ),
  agree(
    "stream",
    "packet-kept",
    "if (Stream.job != job || Stream.quad != quad) {",
    "if (Stream.quad != quad) {",
    "the second packet",
  ),
  agree("stream", "last-byte", "for (; at < length; at++)", "for (; at + 1 < length; at++)", "the last byte of a tail"),
  agree("packet", "part-3", "if (length == 3)", "if (length == 2)", "tails of 3 bytes"),
  agree("packet", "part-8", "length == 8 ? 0 : load", "load", "tails of 8 bytes, AAD without ESN"),

  agree(
    "gcm",
    "icv-12-write",
    "  if (length == 12) store",
    "  if (length > 8 && length < 12) store",
    "an ICV of 12 bytes",
  ),
  refusals("gcm", "icv-8-write", "  if (length == 12) store", "  store", "what is behind an ICV of 8 bytes"),
  refusals(
    "gcm",
    "icv-12-check",
    "length == 12 ? load<i32>(icv, 8) ^ i32x4.extract_lane(tag, 2) : 0",
    "0",
    "the last 4 of 12 bytes",
  ),
  refusals(
    "gcm",
    "icv-16-check",
    "return !v128.any_true(v128.xor(v128.load(icv), tag));",
    "return load<u64>(icv) == i64x2.extract_lane(tag, 0);",
    "the last 8 of 16 bytes",
  ),
  refusals(
    "gcm",
    "refused-written",
    "    if (load<u8>(job, JOB_GOOD) != 0) {\n",
    "    {\n",
    "packets that are refused, and stay",
  ),
  refusals(
    "gcm",
    "refused-tail",
    "      orderRest(job);\n    }\n    tail += tailOf(job);",
    "      orderRest(job);\n      tail += tailOf(job);\n    }",
    "packets behind a refused one",
  ),
  agree("gcm", "one-cipher", " && load<u32>(job, JOB_CIPHER) == cipher; job", "; job", "batches of several keys"),

  agree("hashKey", "lengths-double", "0xe100000000000000", "0xe200000000000000", "the block of the lengths"),
  agree("blocks", "fold-block", "i16x8.shl(last, 6)", "i16x8.shl(last, 5)", "what is left of the reduction, of blocks"),
  agree("lanes", "fold-lanes", "i8x16.shl(last, 6)", "i8x16.shl(last, 5)", "what is left of the reduction, of lanes"),
  agree("ghash", "long-last", "row - padding + 16 <= whole", "row - padding < whole", "the last row of a long packet"),
  agree(
    "ghashMany",
    "batch-power",
    "multiplyLanes(hash + LANES_2);",
    "multiplyLanes(hash + LANES_1);",
    "the lengths of a batch",
  ),
  agree("ghashMany", "batch-begins", "    from = max(from, inData);\n", "", "where packets of a batch begin"),
  agree(
    "ghashMany",
    "batch-ends",
    "    to = min(to, inData + (load<u32>(job, JOB_LENGTH) >> 4));\n",
    "",
    "parts of blocks in a batch",
  ),
  agree("ghashMany", "batch-shorter", "    if (row < padding) continue;\n", "", "shorter packets of a batch"),

  ciphers(
    "cipher",
    "released-kept",
    "void {\n  wipe(cipher, CIPHER_SIZE);\n  wipeHash();\n  release",
    "void {\n  wipeHash();\n  release",
    "ciphers that are gone",
  ),
  ciphers("cipher", "schedule-kept", "  wipe(EXPANDED, 15 * BLOCK_SIZE);\n", "", "round keys that were made"),
  ciphers("stream", "tails-kept", "  wipe(TAILS, ((tails + 7) / 8) * GROUP_SIZE);\n", "", "key stream of tails"),
  ciphers("stream", "states-kept", "  wipe(STATES, Stream.most * GROUP_SIZE);\n", "", "states in flight"),
  ciphers("gcm", "digests-kept", "  wipe(DIGESTS, count * BLOCK_SIZE);\n", "", "digests"),
];
