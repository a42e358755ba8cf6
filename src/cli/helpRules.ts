/** The texts of flowsteer import, export and record --help. */
export const IMPORT = `flowsteer import FILE...: converts rules of devices and other programs to a scenario

Formats of FILE:

  mlx5-dump      output of mlx5dv_dump_dr_domain or the kernel (/sys/kernel/debug/mlx5/*/steering/fdb/*)
  recording      the steering calls of a running program (flowsteer record)
  tc             tc commands that add flower and matchall filters to ingress
  testpmd        flow commands of DPDK's testpmd (rte_flow)
  ovs            OpenFlow flows of Open vSwitch: ovs-ofctl commands, add-flows files, dump-flows output
  ovs-dpctl      datapath flows of Open vSwitch: output of ovs-appctl dpctl/dump-flows
  ethtool        ethtool -N and ethtool -X commands; output of ethtool -n
  classbench     rule sets and traces of ClassBench
  nft            ingress chains of nftables: output of nft list ruleset, commands, JSON
  xfrm           states and policies of ip xfrm that are offloaded: commands, listings

Several files make one scenario, written to standard output. An element without an equivalent, or with missing details,
is refused with its line, its column and the reason; then no scenario is written.

  --lenient      leave such elements out: the scenario lists them under notImported, and run, why, cover and diff report
                 the rules that lack one
  --output FILE  write the scenario to FILE instead of standard output
  --into SCENARIO
                 add the rules to a scenario
  --map NAME=WHAT,...
                 map a port or queue of FILE to uplink, port2, pf, vf1, or the name of a queue
  --set NAME=VALUE,...
                 set variables that FILE uses but does not set: --set REP=eth2_0 for $REP
  --format FORMAT
                 the format of FILE (default: detected)
  --driver NAME  the driver between the rules and the device, which decides their order and tables: mlx5-pmd (DPDK with
                 dv_flow_en 1), mlx5-pmd-hws (dv_flow_en 2), mlx5e (Linux), none (the order of FILE); default: mlx5-pmd
                 for testpmd, mlx5e for the tools of Linux
  --profile P    the adapter that the device models, such as connectx6dx (docs/profiles.md): what it refuses is not imported
  --explain      print to standard error what the driver does to the rules
  --json         print a line of JSON for each finding to standard error, instead of text

Exit codes: 0; 2 an element was refused, without --lenient; 3 the output cannot be written.
`;

export const EXPORT = `flowsteer export SCENARIO --format FORMAT: converts a scenario to rules of another program, or to a graph

Formats:

  c              a C program with libibverbs and libmlx5
  typescript     a TypeScript program that uses flowsteer
  tc             tc commands that add filters for the eSwitch
  ovs            OpenFlow flows of Open vSwitch for the eSwitch, for ovs-ofctl add-flows
  testpmd        flow commands of DPDK's testpmd (rte_flow)
  dump           a steering dump, as mlx5dv_dump_dr_domain writes it
  dot            a Graphviz graph of the tables
  mermaid        the same graph for Mermaid
  svg            the same graph as a picture

The text is written to standard output. An element that FORMAT cannot express is refused with its place in the scenario
and the reason; then nothing is written.

  --lenient      leave such elements out
  --output FILE  write the text to FILE instead of standard output
  --json         print a line of JSON for each finding to standard error, instead of text

Exit codes: 0; 2 an input or an element was refused; 3 the output cannot be written.
`;

export const RECORD = `flowsteer record [FOLDER]: writes libraries that record the steering calls of a program

Writes the sources of two libraries to FOLDER (default: the current one). Compile the one that you need on the machine
that runs the program, and preload it. A program that calls libibverbs and libmlx5:

  gcc -Wall -shared -fPIC -o libflowsteer-record.so flowsteer-record.c -ldl
  FLOWSTEER_RECORD=calls.jsonl LD_PRELOAD=./libflowsteer-record.so ./program
  flowsteer import calls.jsonl

The library records each call that creates, changes or destroys a steering object, with the bytes of its structs.
Compiling it needs libibverbs-dev (rdma-core 39 or later).

A program that calls rte_flow of DPDK:

  gcc -Wall -shared -fPIC -o libflowsteer-record-rte.so flowsteer-record-rte.c $(pkg-config --cflags libdpdk) -ldl
  FLOWSTEER_RECORD=flows.testpmd LD_PRELOAD=./libflowsteer-record-rte.so ./program
  flowsteer import flows.testpmd

The library records each call as the command of testpmd that does the same. Compiling it needs DPDK 22.11 or later
(Debian: libdpdk-dev); its source says how to link it into a program that has DPDK linked in.

With either library, the program behaves as it does without.

Exit codes: 0; 3 a file cannot be written.
`;
