/** Snippets of the language server protocol, as the editor takes them, and whole objects of sections. */

/** `"tag": ${1:0}` becomes `"tag": ${0}`: the editor's places have no number before their proposal. */
export function editorSnippet(text: string): string {
  const plain = (part: string): string => literal(part.replace(/\\([\\$}])/g, "$1"));
  let out = "";
  let end = 0;
  for (const found of text.matchAll(
    /(?<!\\)\$(?:(\d+)|\{\d+(?::((?:\\.|[^\\}])*))?\}|\{\d+\|((?:\\.|[^\\,|])*)[^}]*\|\})/g,
  )) {
    out += `${plain(text.slice(end, found.index))}\${${plain(found[2] ?? found[3] ?? "")}}`;
    end = found.index + found[0].length;
  }
  return out + plain(text.slice(end));
}

/** Text without places in a snippet of the editor. */
export function literal(text: string): string {
  return text.replace(/[{}]/g, "\\$&");
}

/** An object of a section, to be filled in. */
export const OBJECTS: Readonly<Record<string, string>> = {
  queues: '\\{ "name": "${web}" \\}',
  tables: '\\{ "name": "${root}", "level": ${0} \\}',
  counters: '\\{ "name": "${}" \\}',
  matchers: '\\{ "name": "${}", "table": "${root}", "priority": ${0}, "mask": \\{ ${} \\} \\}',
  rules:
    '\\{\n\t"name": "${}",\n\t"table": "${root}",\n\t"priority": ${0},\n\t"match": \\{ ${} \\},\n\t"actions": [${}]\n\\}',
  flows: '\\{ "name": "${}", "queue": "${}", "specs": [${}] \\}',
  hostRules: '\\{ "application": "${ethtool}", "match": \\{ ${} \\}, "action": "${drop}" \\}',
  frames:
    '\\{\n\t"name": "${}",\n\t"headers": [\n\t\t\\{ "header": "ethernet" \\},\n\t\t\\{ "header": "ipv4", "source": "${192.0.2.1}", "destination": "${198.51.100.1}" \\},\n\t\t\\{ "header": "tcp", "destination_port": ${80} \\}\n\t]\n\\}',
};
