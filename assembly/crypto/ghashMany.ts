/** GHASH of several packets of one association. */
import { JOB_AAD, JOB_AAD_LENGTH, JOB_DATA, JOB_LENGTH, JOB_SIZE } from "../../src/abi/cipher";
import { ghash } from "./ghash";

/** GHASH of `count` jobs, 16 bytes each at `out`. */
export function ghashMany(hash: usize, jobs: usize, count: u32, out: usize): void {
  for (; count != 0; count--) {
    ghash(
      hash,
      load<u32>(jobs, JOB_AAD),
      load<u16>(jobs, JOB_AAD_LENGTH),
      load<u32>(jobs, JOB_DATA),
      load<u32>(jobs, JOB_LENGTH),
      out,
    );
    jobs += JOB_SIZE;
    out += 16;
  }
}
