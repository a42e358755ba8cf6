/** What Wireshark asks a program in its extcap folder: its interfaces, their link types, and what to fill in. */

export const INTERFACES = ["flowsteer-serve", "flowsteer-run"] as const;
export type InterfaceName = (typeof INTERFACES)[number];

const SHOWN: Readonly<Record<InterfaceName, string>> = {
  "flowsteer-serve": "flowsteer: frames of a served device",
  "flowsteer-run": "flowsteer: a capture through a scenario",
};

/** Fields of the dialog. Wireshark gives each as an option of the capture. */
const FIELDS: Readonly<Record<InterfaceName, readonly (readonly string[])[]>> = {
  "flowsteer-serve": [
    [
      ...["call=--control", "display=Control socket", "type=fileselect", "mustexist=true", "required=true"],
      "tooltip=The Unix socket of flowsteer serve --control unix:PATH",
    ],
  ],
  "flowsteer-run": [
    [
      ...["call=--scenario", "display=Scenario", "type=fileselect", "mustexist=true", "required=true"],
      ...["fileext=Scenarios (*.json)", "tooltip=The rules"],
    ],
    [
      ...["call=--frames", "display=Capture", "type=fileselect", "mustexist=true"],
      "tooltip=The frames; without it those of the scenario",
    ],
    [
      ...["call=--port", "display=Port", "type=unsigned", "range=1,255", "default=1"],
      "tooltip=The port at which the frames of the capture arrive",
    ],
  ],
};

export function interfacesText(version: string): string {
  const lines = INTERFACES.map((name) => sentence("interface", [`value=${name}`, `display=${SHOWN[name]}`]));
  return [sentence("extcap", [`version=${version}`]), ...lines].join("");
}

/** Interfaces of the capture have link types of their own. */
export function linkTypesText(): string {
  return sentence("dlt", ["number=1", "name=EN10MB", "display=Ethernet"]);
}

export function fieldsText(name: InterfaceName): string {
  return FIELDS[name].map((fields, i) => sentence("arg", [`number=${i}`, ...fields])).join("");
}

function sentence(kind: string, parts: readonly string[]): string {
  return `${kind} ${parts.map((part) => `{${part}}`).join("")}\n`;
}
