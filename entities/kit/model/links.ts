import type { EntityModule } from './define.ts';
import { groupLinkNote } from './derived/join.ts';
import type { JoinSide } from './record-rules.ts';
import type { Registry } from './registry.ts';

/** How records of a kind are linked with those of another one. */
export interface Links {
  /** The kind of the links. */
  readonly through: EntityModule;
  readonly own: JoinSide;
  readonly other: JoinSide;
  readonly target: EntityModule;
  /** Names of the inputs that link records and that end links. */
  readonly add: string;
  readonly remove: string;
}

export function linksOf({ modules, byKind }: Pick<Registry, 'modules' | 'byKind'>, { kind }: EntityModule): Links[] {
  return modules.flatMap((through): Links[] => {
    const [first, second] = through.sides ?? [];
    if (!first || !second || ![first.kind, second.kind].includes(kind)) return [];
    const [own, other] = first.kind === kind ? [first, second] : [second, first];
    const ids = `${byKind(other.kind).typeName}Ids`;
    return [{ through, own, other, target: byKind(other.kind), add: `add${ids}`, remove: `remove${ids}` }];
  });
}

export function linkDescription({ target, through }: Links, change: 'add' | 'remove'): string {
  return change === 'add'
    ? `Ids of ${target.typeName} records to link with this record. Links that exist already stay.${accessNote(through)}`
    : `Ids of ${target.typeName} records to unlink from this record.`;
}

/** For links with groups: that they are no shares, as somebody may expect; else empty. */
function accessNote({ sides }: EntityModule): string {
  const [owner, group] = sides ?? [];
  return owner && group?.kind === 'group' ? groupLinkNote(owner.kind) : '';
}

/** Ids of records to link with a record, or of which to end the link. */
export interface LinkChange {
  readonly links: Links;
  readonly change: 'add' | 'remove';
  readonly ids: readonly string[];
  /** JSON pointer of the ids in the input. */
  readonly path: string;
}

/** Separates the values of an input from its changes of links. @param path JSON pointer of the input */
export function withoutLinks(
  registry: Registry,
  module: EntityModule,
  input: Readonly<Record<string, unknown>>,
  path: string,
): { readonly values: Readonly<Record<string, unknown>>; readonly links: readonly LinkChange[] } {
  const changes = linksOf(registry, module).flatMap((links) =>
    (['add', 'remove'] as const).map((change) => ({ links, change, name: links[change] })),
  );
  const given = changes.filter(({ name }) => Object.hasOwn(input, name));
  if (given.length === 0) return { values: input, links: [] };
  const names = new Set<string>(given.map(({ name }) => name));
  return {
    values: Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))),
    links: given.map(({ links, change, name }) => ({
      links,
      change,
      ids: [...new Set((input[name] ?? []) as readonly string[])],
      path: `${path}/${name}`,
    })),
  };
}
