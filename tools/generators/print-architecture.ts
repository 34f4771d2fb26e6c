import { rooms, type Room } from './import-table.ts';

const begin = '<!-- printed from tools/generators/import-table.ts by `npm run derive`: begin -->';
const end = '<!-- end -->';

/** ARCHITECTURE.md with the picture and the table of rooms printed from the import table. @param present its current text */
export function printArchitecture(present: string): string {
  const [before, , after] = parts(present);
  return `${before}${begin}\n\n${picture()}\n\n${table()}\n\n${end}${after}`;
}

function parts(text: string): [string, string, string] {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`ARCHITECTURE.md needs the lines "${begin}" and "${end}"`);
  return [text.slice(0, from), text.slice(from, to), text.slice(to + end.length)];
}

/** Areas with their rooms. Arrows point to what is imported, dotted for types alone; those that follow from others are left out. */
function picture(): string {
  const areas = Map.groupBy(rooms, ({ path }) => path.split('/')[0] as string);
  const boxes = [...areas].map(([area, own]) => {
    const inner = own.filter(({ path }) => path !== area);
    if (inner.length === 0) return `  ${idOf(area)}["${area}"]`;
    const names = inner.map(({ path }) => `    ${idOf(path)}["${path.slice(area.length + 1)}"]`);
    const chain = inner.slice(1).flatMap((room, index) => {
      const below = inner[index] as Room;
      return room.imports.includes(below.path) ? [`    ${idOf(room.path)} --> ${idOf(below.path)}`] : [];
    });
    return [`  subgraph ${area}`, ...names, ...chain, '  end'].join('\n');
  });
  const arrows = [...areas].flatMap(([area, own]) => {
    const used = new Set(own.flatMap(({ imports }) => imports.map((path) => path.split('/')[0] as string)));
    const typesOnly = new Set(
      own.flatMap(({ typeImports = [] }) => typeImports.map((path) => path.split('/')[0] as string)),
    );
    return [
      ...directOnly(area, used, areas).map((other) => `  ${area} --> ${other}`),
      ...[...typesOnly].map((other) => `  ${area} -. types .-> ${other}`),
    ];
  });
  return ['```mermaid', 'flowchart BT', ...boxes, ...arrows, '```'].join('\n');
}

/** The areas that an area imports, except those that it also reaches through another area. */
function directOnly(area: string, used: ReadonlySet<string>, areas: ReadonlyMap<string, readonly Room[]>): string[] {
  const reach = (from: string): Set<string> => {
    const next = new Set(
      (areas.get(from) ?? []).flatMap(({ imports }) => imports.map((path) => path.split('/')[0] as string)),
    );
    next.delete(from);
    return [...next].reduce((all, name) => all.union(reach(name)), next);
  };
  const others = [...used].filter((name) => name !== area);
  return others.filter((name) => !others.some((other) => other !== name && reach(other).has(name)));
}

function idOf(path: string): string {
  return path.replaceAll(/[^a-z]/g, '_');
}

function table(): string {
  const rows = rooms.map(({ path, purpose, imports, typeImports = [] }) => {
    const allowed = [...grouped(imports), ...typeImports.map((name) => `types of \`${name}\``)];
    return `| \`${path}\` | ${purpose} | ${allowed.join(', ') || 'no other room'} |`;
  });
  return ['| Room | What is in it | May import |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Names of rooms; all rooms of an area, or of the kit, become one name. */
function grouped(imports: readonly string[]): string[] {
  let rest = [...imports];
  const names: string[] = [];
  for (const prefix of ['config', 'entities', 'entities/kit', 'relay']) {
    const all = rooms.map(({ path }) => path).filter((path) => path === prefix || path.startsWith(`${prefix}/`));
    const needed = all.filter((path) => path !== prefix || prefix === 'entities');
    if (needed.length > 1 && needed.every((path) => rest.includes(path))) {
      names.push(`\`${prefix}/**\``);
      rest = rest.filter((path) => !needed.includes(path));
    }
  }
  return [...names, ...rest.map((path) => `\`${path}\``)];
}
