import { newId } from '../base/ids.ts';
import { nameForm } from '../base/name-form.ts';
import type { ChangeBehaviour, Completing } from '../write/change-behaviour.ts';
import type { Creation } from '../write/creations.ts';

/** A record that the server creates together with each record of a kind, unless the creation brings one of its own. */
export interface Companion<Name extends string = string> {
  readonly kind: string;
  /** Its field with the id of the record. */
  readonly record: string;
  readonly values?: Readonly<Record<string, unknown>>;
  /** One for each name of a list, which is the value of this field. */
  readonly forEach?: { readonly list: 'entityTypes'; readonly field: string };
  /** Only while this is on in the configuration. */
  readonly whileOn?: 'hasWorkflows';
  /** Only for records with these values. */
  readonly when?: { readonly [Field in Name]?: unknown };
  /** Created together with it. */
  readonly companions?: readonly Companion[];
}

/** Behaviour: records of other kinds are created together with each record, in the same transaction, and need no right of the caller. */
export function companions<const Name extends string = never>(
  made: readonly Companion<Name>[],
): ChangeBehaviour<NoInfer<Name>> {
  return {
    fields: made.flatMap(({ when = {} }) => Object.keys(when) as Name[]),
    complete: (creation, completing) => withCompanions(made, creation, completing),
  };
}

function withCompanions(made: readonly Companion[], creation: Creation, completing: Completing): Creation {
  const { module, children = [] } = creation;
  // Known in advance, because records of its companions belong to it as well.
  const id = (creation.input['id'] as string | undefined) ?? newId(completing.at.getTime());
  const input: Record<string, unknown> = { ...creation.input, id };
  const organizationId = module.kind === 'organization' ? id : (input['organizationId'] as string | undefined);
  const brought = new Set(children.map((child) => child.creation.module.kind));
  const known = new Set(completing.registry.modules.map(({ kind }) => kind));
  const missing = made.filter(({ kind }) => known.has(kind) && !brought.has(kind));
  const added = missing.flatMap((companion) =>
    companionsOf(companion, { creation: { ...creation, input }, organizationId, completing }),
  );
  return { ...creation, input, children: [...children, ...added] };
}

type Child = NonNullable<Creation['children']>[number];

interface Place {
  readonly creation: Creation;
  readonly organizationId: string | undefined;
  readonly completing: Completing;
}

function companionsOf(
  { kind, record, values, forEach, whileOn, when = {}, companions: below = [] }: Companion,
  place: Place,
): Child[] {
  const { creation, organizationId, completing } = place;
  const valueOf = (field: string) => creation.input[field] ?? creation.module.fields[field]?.default ?? null;
  if (whileOn && !completing.names()[whileOn]) return [];
  if (Object.entries(when).some(([field, value]) => valueOf(field) !== value)) return [];
  const named = forEach
    ? withoutTwins(completing.names()[forEach.list]).map((name) => ({ [forEach.field]: name }))
    : [{}];
  return named.map((name) => {
    const own: Creation = {
      module: completing.registry.byKind(kind),
      input: { ...values, ...name, ...(organizationId === undefined ? {} : { organizationId }) },
      path: creation.path,
      isGranted: true,
    };
    const children = below.flatMap((companion) => companionsOf(companion, { ...place, creation: own }));
    return { field: record, creation: { ...own, children } };
  });
}

/** The first of the names that look the same. */
function withoutTwins(names: readonly string[]): string[] {
  return [...Map.groupBy(names, nameForm).values()].flatMap(([first]) => first ?? []);
}
