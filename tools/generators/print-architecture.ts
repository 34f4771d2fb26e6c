import { rooms } from './import-table.ts';

const begin = '<!-- printed from tools/generators/import-table.ts by `npm run derive`: begin -->';
const end = '<!-- end -->';

const kit = 'entities/kit/';

/** ARCHITECTURE.md with the tree of rooms and the chain of the kit printed from the import table. @param present its current text */
export function printArchitecture(present: string): string {
  const [from, to] = [present.indexOf(begin), present.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`ARCHITECTURE.md needs the lines "${begin}" and "${end}"`);
  return `${present.slice(0, from)}${begin}\n\n${chain()}\n\n\`\`\`text\n${tree()}\n\`\`\`\n\n${present.slice(to)}`;
}

function chain(): string {
  const names = rooms.flatMap(({ path }) => (path.startsWith(kit) ? [path.slice(kit.length)] : []));
  return `In \`${kit}\`, imports go to the left only:\n\`${names.join(' < ')}\`.`;
}

/** One line for each room, below its area. */
function tree(): string {
  const width = Math.max(...rooms.map(({ path }) => path.length)) + 2;
  const areas = Map.groupBy(rooms, ({ path }) => path.split('/')[0] as string);
  return [...areas]
    .flatMap(([area, own]) => {
      const line = (path: string, purpose: string) => `${`${path}/`.padEnd(width)} ${purpose}`.trimEnd();
      const root = own.find(({ path }) => path === area);
      const inner = own.filter((room) => room !== root);
      return [
        line(area, root?.purpose ?? ''),
        ...inner.map(({ path, purpose }) => line(`  ${path.slice(area.length + 1)}`, purpose)),
      ];
    })
    .join('\n');
}
