import { packageHomes, rooms, specificity, type Room } from './import-table.ts';

/** The import table as lint rules. `.oxlintrc.json` extends the printed file. */
export function printLint(): string {
  // The last override that matches a file applies, so the most specific rooms come last.
  const overrides = rooms
    .toSorted((one, other) => specificity(one) - specificity(other))
    .map((room) => ({
      files: room.path.includes('*') || isLeaf(room) ? [`${room.path}/**`] : [`${room.path}/*`],
      rules: { 'no-restricted-imports': ['error', { patterns: patternsOf(room) }] },
    }));
  return `{ "overrides": [\n${overrides.map((override) => JSON.stringify(override)).join(',\n')}\n] }\n`;
}

/** Whether the folder of this room contains no other room. */
function isLeaf({ path }: Room): boolean {
  return rooms.every((other) => !other.path.startsWith(`${path}/`));
}

function patternsOf(room: Room): object[] {
  const area = room.path.split('/')[0] as string;
  const foreign = rooms.filter((other) => other !== room && !room.imports.includes(other.path));
  const areas = [
    ...new Set([...rooms.map(({ path }) => path.split('/')[0] as string), 'temporal-dev', 'test', 'docs']),
  ];
  const closedAreas = areas.filter((name) => name !== area && !room.imports.some((path) => isIn(path, name)));
  const closedRooms = foreign.filter(
    ({ path }) => !path.includes('*') && !closedAreas.some((name) => isIn(path, name)),
  );
  const packages = Object.entries(packageHomes).filter(([, homes]) => !homes.includes(room.path));
  return [
    {
      group: [
        ...closedAreas.map((name) => `#${name}/**`),
        ...closedRooms.flatMap((other) => specifiersOf(other, area)),
      ],
      ...(room.typeImports ? { allowTypeImports: true } : {}),
      message: `${room.path}: ${room.purpose}. It may import ${[...room.imports, ...(room.typeImports ?? [])].join(', ') || 'no other room'} (docs/import-table.ts).`,
    },
    ...(room.isSandboxed ? [{ regex: '^node:', message: 'The workflow sandbox has no Node modules.' }] : []),
    {
      group: packages.flatMap(([name]) => [name, `${name}/**`]),
      allowTypeImports: true,
      message: 'Only other rooms may import this package (docs/import-table.ts).',
    },
  ];
}

/** Import specifiers of the files of a room, as files of the area write them. */
function specifiersOf(other: Room, area: string): string[] {
  const suffix = isLeaf(other) ? '/**' : '/*';
  if (!isIn(other.path, area)) return [`#${other.path}${suffix}`];
  const folders = other.path.split('/').slice(1);
  const tails = folders.map((_folder, index) => folders.slice(index).join('/'));
  return tails.flatMap((tail) => ['./', '../', '../../'].map((up) => `${up}${tail}${suffix}`));
}

function isIn(path: string, area: string): boolean {
  return path === area || path.startsWith(`${area}/`);
}
