/** The text of flowsteer exec --help. */
export const EXEC = `flowsteer exec [OPTIONS] -- PROGRAM [ARGUMENTS]: runs an unmodified program on a device of the model

The libibverbs and libmlx5 calls of PROGRAM, and of the processes that it starts, go to a model of a NIC instead of
the kernel. No RDMA hardware or driver is needed. A library that is preloaded passes the calls on; it is compiled on
first use with cc (or $CC) and the rdma-core headers of this machine, and kept in ~/.cache/flowsteer.

A call that is refused sets errno as on the NIC, and prints why, once for each place in the program:

  main.c:88 mlx5dv_dr_matcher_create: EINVAL: mask.outer.tcp_dport: ...

When PROGRAM ends, standard error has the rules and flows that each process made with their hits, what happened to the
frames, and the objects that were never destroyed.

  --device SCENARIO
                 use the device of this scenario, with its rules, functions and cables (default: a device with two
                 ports and no rules)
  --profile P    the adapter that the device models, such as connectx6dx (docs/profiles.md)
  --devices N    N such devices; the ports of the first and second, third and fourth and so on are cabled
  --socket PATH  the Unix socket for other programs that use the same devices; they are waited for at the end
  --join PATH    use the devices of a running flowsteer exec --socket PATH, which then also prints what is refused
  --record FILE  write the rules and flows of the programs, with what they need, as a scenario for flowsteer why, cover,
                 check, diff and the playground: as they are when there are the most of them. SIGUSR1 to flowsteer
                 writes them at that moment instead. - writes to standard output. The second device is FILE-2, and so on
  --capture FILE frames of this capture arrive while PROGRAM runs, once it has a rule or flow and a receive buffer
  --port N       the port of the first device at which they arrive (default: 1)
  --rate N       frames per second (default: at the times in the capture)
  --virtual-time the clock of the devices stands still while a program runs, so that each run has the same times, and a
                 capture takes no longer than the programs (docs/programs.md)
  --annotate FILE
                 write each frame that the devices handled to a pcapng file, with a comment as flowsteer run --annotate
  --why          explain why frames were lost, as flowsteer why --all does
  --json         print lines of JSON to standard error instead of text (schema/exec-1.schema.json)
  --quiet        print only errors of flowsteer itself

  flowsteer exec -- ./my_program --port 4791
  flowsteer exec --profile connectx6dx --record rules.json -- python3 -m unittest tests.test_mlx5_dr
  flowsteer exec --capture traffic.pcap --why -- ./receiver
  flowsteer exec --socket nic.sock -- ibv_rc_pingpong & flowsteer exec --join nic.sock -- ibv_rc_pingpong localhost

Exit codes: those of PROGRAM, 128 and the number of a signal that ended it, 126 and 127 where it cannot be started;
2 an input was refused, or the library cannot be compiled; 3 an output cannot be written.
`;
