/** The texts of flowsteer import, export and record --help. */
export const IMPORT = `flowsteer import FILE...: turns rules of devices and other programs into a scenario

What FILE can be:

  mlx5-dump      what mlx5dv_dump_dr_domain or the kernel (/sys/kernel/debug/mlx5/*/steering/fdb/*) writes
  recording      the steering calls of a running program (flowsteer record)
  tc             filters of tc: flower and matchall of ingress, as commands
  testpmd        flow commands of DPDK's testpmd (rte_flow)
  ovs            OpenFlow flows of Open vSwitch: ovs-ofctl commands, files of add-flows, what dump-flows prints
  ovs-dpctl      datapath flows of Open vSwitch: what ovs-appctl dpctl/dump-flows prints
  ethtool        rules of ethtool -N and contexts of ethtool -X, as commands; what ethtool -n prints
  classbench     rule sets and traces of ClassBench
  nft            ingress chains of nftables, as nft list ruleset prints them, commands, JSON

Several files make one scenario. It goes to standard output. Each element that has no equal, or of which the file does not
say enough, is refused with its line, its column and the reason; then there is no scenario.

  --lenient      leaves such elements out: the scenario lists them under notImported, and run, why, cover and diff
                 tell of the rules that lack one
  --output FILE  the file for the scenario, instead of standard output
  --into SCENARIO
                 adds the rules to those of a scenario
  --map NAME=WHAT,...
                 what a port or a queue of FILE is: uplink, port2, pf, vf1, or the name of a queue
  --set NAME=VALUE,...
                 variables that FILE uses and does not set: --set REP=eth2_0 for $REP
  --format FORMAT
                 what FILE is; recognized if left out
  --json         a line of JSON for each finding on standard error, instead of text

Exit codes: 0; 2 an element was refused, without --lenient; 3 the output cannot be written.
`;

export const EXPORT = `flowsteer export SCENARIO --format FORMAT: writes a scenario as rules of another program, or as a graph

FORMAT is one of these:

  c              a C program with libibverbs and libmlx5
  typescript     a TypeScript program with the functions of flowsteer
  tc             filters of tc for the eSwitch, as commands
  ovs            OpenFlow flows of Open vSwitch for the eSwitch, as a file of ovs-ofctl add-flows
  testpmd        flow commands of DPDK's testpmd (rte_flow)
  dump           a steering dump, as mlx5dv_dump_dr_domain writes it
  dot            a graph of the tables for Graphviz
  mermaid        the same for Mermaid
  svg            the same as a picture

The text goes to standard output. Each element that FORMAT cannot express is refused with its place in the scenario and
the reason; then there is no text.

  --lenient      leaves such elements out
  --output FILE  the file for the text, instead of standard output
  --json         a line of JSON for each finding on standard error, instead of text

Exit codes: 0; 2 an input or an element was refused; 3 the output cannot be written.
`;

export const RECORD = `flowsteer record [FOLDER]: writes the library that records the steering calls of a program

FOLDER (by default this one) gets flowsteer-record.c. Compile it where the program runs, and start the program with it:

  gcc -Wall -shared -fPIC -o libflowsteer-record.so flowsteer-record.c -ldl
  FLOWSTEER_RECORD=calls.jsonl LD_PRELOAD=./libflowsteer-record.so ./program
  flowsteer import calls.jsonl

The library writes each call that makes, changes or destroys a steering object, with the bytes of its structs. The program
runs as without it. It needs libibverbs-dev (rdma-core 39 or later) to compile.

Exit codes: 0; 3 the file cannot be written.
`;
