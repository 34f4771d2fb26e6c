import { defineEntityModule, type EntityModule } from './define.ts';
import { reference } from './fields.ts';
import { roles } from './caller.ts';
import { aboutHidden, allow, anyone, deny, role, scope, system } from './policy.ts';
import type { Registry } from './registry.ts';
import { inWords, inWordsCapitalized, snakeCase } from '../base/snake-case.ts';

/** A relation of many records to many of another kind (`joins` in an entity file). */
export interface Join {
  /** The other kind. Each of the two lists the records of the other one, under the plural of their kind. */
  readonly to: string;
}

/** One side of a kind of links. */
export interface JoinSide {
  readonly kind: string;
  /** Field of the link that holds the id of the record. */
  readonly field: string;
  /** Name of the list of these records on records of the other side. */
  readonly listed: string;
}

/**
 * The kind of links between records of two kinds: each record links one with one. As a kind it has a table, history and events. Callers
 * change links by changing a record of either side (`add…Ids`, `remove…Ids`): that needs the right to edit this record, and to view those
 * of the other side. A link is visible to whoever may view both.
 */
export function joinOf(module: EntityModule, target: EntityModule): EntityModule {
  if (target.kind === module.kind)
    throw new TypeError(`entity "${module.kind}": a join links records of two kinds, not of one`);
  const [own, other] = [sideOf(module), sideOf(target)];
  const derived = defineEntityModule({
    kind: `${module.kind}${target.typeName}`,
    table: `${snakeCase(module.kind)}_${target.table}`,
    description: `Link of one ${inWords(module.kind)} with one ${inWords(target.kind)}.`,
    fields: {
      [own.field]: linkedRecord(module),
      [other.field]: linkedRecord(target),
    },
    unique: [{ fields: [own.field, other.field], message: 'These records are linked already.' }],
    tenancy: 'organization',
    ...(module.productModules && { productModules: module.productModules }),
    policy: {
      view: [
        allow(system),
        deny(aboutHidden(own.field)),
        deny(aboutHidden(other.field)),
        allow(role(...roles)),
        allow(scope),
        deny(anyone),
      ],
      create: [allow(system)],
      edit: [allow(system)],
      remove: [allow(system)],
    },
    expose: { [own.field]: 'read', [other.field]: 'read' },
    filter: [own.field, other.field],
    order: ['createdAt'],
    events: ['created', 'deleted'],
  });
  return { ...derived, sides: [own, other] };
}

function sideOf({ kind, table }: EntityModule): JoinSide {
  const listed = table.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return { kind, field: `${kind}Id`, listed };
}

function linkedRecord({ kind }: EntityModule) {
  return reference(kind, `${inWordsCapitalized(kind)} that is linked.`, { immutable: true, onDelete: 'cascade' });
}

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

/** All links of records of a kind with those of others. */
export function linksOf({ modules, byKind }: Pick<Registry, 'modules' | 'byKind'>, { kind }: EntityModule): Links[] {
  return modules.flatMap((through): Links[] => {
    const [first, second] = through.sides ?? [];
    if (!first || !second || ![first.kind, second.kind].includes(kind)) return [];
    const [own, other] = first.kind === kind ? [first, second] : [second, first];
    const ids = `${byKind(other.kind).typeName}Ids`;
    return [{ through, own, other, target: byKind(other.kind), add: `add${ids}`, remove: `remove${ids}` }];
  });
}

/** The description of an input that changes links. */
export function linkDescription({ target }: Links, change: 'add' | 'remove'): string {
  return change === 'add'
    ? `Ids of ${target.typeName} records to link with this record; those that are linked already stay so.`
    : `Ids of ${target.typeName} records of which to end the link.`;
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
