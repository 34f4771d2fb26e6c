import { newId } from '../../base/ids.ts';
import { nameForm } from '../../base/name-form.ts';
import type { Companion, ConfiguredNames } from '../../model/record-rules.ts';
import type { Registry } from '../../model/registry.ts';
import type { Creation } from '../creations.ts';

interface Making {
  readonly registry: Registry;
  /** Read from the configuration of this moment. */
  readonly names: () => ConfiguredNames;
  readonly at: Date;
}

/** Adds to each creation the records that its kind has as companions. They are in the same transaction, and need no right of the caller. */
export function withCompanions(creations: readonly Creation[], making: Making): Creation[] {
  return creations.map((creation) => {
    const { module, children = [] } = creation;
    const below = children.map((child) => ({
      ...child,
      creation: withCompanions([child.creation], making)[0] as Creation,
    }));
    if (!module.companions) return { ...creation, children: below };
    // Known in advance, because records of its companions belong to it as well.
    const id = (creation.input['id'] as string | undefined) ?? newId(making.at.getTime());
    const input: Record<string, unknown> = { ...creation.input, id };
    const organizationId = module.kind === 'organization' ? id : (input['organizationId'] as string | undefined);
    const brought = new Set(children.map((child) => child.creation.module.kind));
    const known = new Set(making.registry.modules.map(({ kind }) => kind));
    const missing = module.companions.filter(({ kind }) => known.has(kind) && !brought.has(kind));
    const made = missing.flatMap((companion) =>
      companionsOf(companion, { creation: { ...creation, input }, organizationId, making }),
    );
    return { ...creation, input, children: [...below, ...made] };
  });
}

type Child = NonNullable<Creation['children']>[number];

interface Place {
  readonly creation: Creation;
  readonly organizationId: string | undefined;
  readonly making: Making;
}

function companionsOf({ kind, record, values, forEach, when, companions = [] }: Companion, place: Place): Child[] {
  const { creation, organizationId, making } = place;
  if (when && (creation.input[when.field] ?? creation.module.fields[when.field]?.default ?? null) !== when.is)
    return [];
  const named = forEach ? withoutTwins(making.names()[forEach.list]).map((name) => ({ [forEach.field]: name })) : [{}];
  return named.map((name) => {
    const own: Creation = {
      module: making.registry.byKind(kind),
      input: { ...values, ...name, ...(organizationId === undefined ? {} : { organizationId }) },
      path: creation.path,
      isGranted: true,
    };
    const children = companions.flatMap((companion) => companionsOf(companion, { ...place, creation: own }));
    return { field: record, creation: { ...own, children } };
  });
}

/** The first of the names that look the same. */
function withoutTwins(names: readonly string[]): string[] {
  return [...Map.groupBy(names, nameForm).values()].flatMap(([first]) => first ?? []);
}
