import { defineEntityModule, type EntityModule } from '../define.ts';
import { reference } from '../fields.ts';
import { roles } from '../caller.ts';
import { aboutHidden, allow, anyone, deny, role, scope, system } from '../policy.ts';
import type { JoinSide } from '../record-rules.ts';
import { inWords, inWordsCapitalized, snakeCase } from '../../base/snake-case.ts';

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
    description: `Link of one ${inWords(module.kind)} with one ${inWords(target.kind)}.${target.kind === 'group' ? groupLinkNote(module.kind) : ''}`,
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
    events: ['created', 'deleted'],
  });
  return { ...derived, sides: [own, other] };
}

/** The end of descriptions of links with groups: shares are other records, which are easily taken for links. @param kind that is linked */
export function groupLinkNote(kind: string): string {
  return ` A link gives nobody access: a ${inWords(kind)} share does.`;
}

function sideOf({ kind, table }: EntityModule): JoinSide {
  const listed = table.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return { kind, field: `${kind}Id`, listed };
}

function linkedRecord({ kind }: EntityModule) {
  return reference(kind, `${inWordsCapitalized(kind)} that is linked.`, {
    immutable: true,
    onDelete: 'cascade',
    exposed: 'read',
    lists: ['filter'],
  });
}
