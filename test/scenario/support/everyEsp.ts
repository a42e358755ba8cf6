/** ESP actions with every key. */
const SECRET = { key: "000102030405060708090a0b0c0d0e0f", salt: "00:01:02:03" };
const ADDRESSES = { src_ip: "192.0.2.1", dst_ip: "192.0.2.2" };

export const ESP_ACTIONS = [
  {
    name: "seal",
    esp: {
      ...SECRET,
      direction: "encrypt",
      offload: "full",
      mode: "tunnel",
      iv: "0000 0000 0000 0001",
      icv: 12,
      spi: "0x1000",
      seq: 5,
      esn: "0x1",
      tfcPad: 8,
      hardLimit: 1000,
      encap: [
        { eth: { dst_mac: "02:00:00:00:00:02", src_mac: "02:00:00:00:00:01", ether_type: "0x800", vlan_tag: 5 } },
        { ipv4_ext: { ...ADDRESSES, proto: 17, tos: "0xb8", ttl: 9, flags: 2 } },
        { udp: { src_port: 4500, dst_port: 4501 } },
      ],
    },
  },
  { name: "open", esp: { ...SECRET, direction: "decrypt", spi: 1, replay: 64, encap: [{ ipv4: ADDRESSES }] } },
  {
    name: "open IPv6",
    esp: {
      ...SECRET,
      direction: "decrypt",
      encap: [
        {
          ipv6: {
            src_ip: "2001:db8::1",
            dst_ip: "2001:db8::2",
            flow_label: "0xabcde",
            next_hdr: 50,
            traffic_class: 0,
            hop_limit: 1,
          },
        },
      ],
    },
  },
  {
    name: "open in place",
    esp: {
      ...SECRET,
      direction: "decrypt",
      offload: "inline",
      mode: "transport",
      esn: 0,
      newWindow: true,
      metadata: true,
    },
  },
];

export const ESP_FLOWS = [
  {
    name: "sealed",
    queue: "web",
    priority: 15,
    flags: ["egress"],
    specs: [{ udp: { dst_port: 9 } }, { action: "seal" }],
  },
  { name: "opened", queue: "rest", priority: 15, specs: [{ esp: { spi: 1 } }, { action: "open" }] },
  { name: "opened IPv6", queue: "rest", priority: 15, specs: [{ esp: { spi: 2 } }, { action: "open IPv6" }] },
  {
    name: "opened in place",
    queue: "rest",
    priority: 15,
    specs: [{ ipv4: {} }, { esp: { spi: 3 } }, { action: "open in place" }],
  },
];
