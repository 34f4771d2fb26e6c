import { fieldMistakes } from './field-mistakes.ts';
import { text, type CreationInput, type ChangeInput, type Fields, type FieldValues } from './fields.ts';
import type { CustomEvents, EventVerb } from './events.ts';
import type { EntityHooks } from './hooks.ts';
import { hasObjectRights, type Policy } from './policy.ts';
import type { ProductModule } from './product-modules.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { TupleGrant } from './tuples.ts';

/** Whose a record is. `{ none }` opts a kind out of tenancy, in writing. */
export type Tenancy = 'organization' | 'user' | { readonly none: string };

export type Exposure = 'read' | 'read-write' | 'write';

/** Changes that are derived for callers, singly and in bulk; others are written by hand, or for the server alone. */
export type Mutation = 'create' | 'update' | 'delete';

/** A unique key over live rows: soft-deleted rows keep their names free. */
export interface UniqueKey<Name extends string = string> {
  readonly fields: readonly Name[];
  /** What a conflict means, shown to the caller. */
  readonly message: string;
}

/**
 * One kind of record, whole: what it is, whose it is, who may, what is visible, what it announces. Storage, tenancy,
 * history, events, tuples and GraphQL follow from it.
 */
export interface EntityDefinition<
  F extends Fields,
  T extends Tenancy,
  Name extends string = NameOf<F, T>,
  E extends EventVerb = EventVerb,
  C extends CustomEvents = CustomEvents,
> {
  /** Singular noun in camelCase; the GraphQL type is its PascalCase, topics and tuples use snake_case. */
  readonly kind: string;
  /** Plural snake_case. */
  readonly table: string;
  readonly description: string;
  readonly fields: F;
  /** Prefix of the short name that its records get besides their ids, for example `TSK`; unique in the organization. */
  readonly displayId?: string;
  readonly unique?: readonly UniqueKey<Name>[];
  /** Further indexes over live rows, besides references and unique keys. */
  readonly indexes?: readonly (readonly Name[])[];
  readonly tenancy: T;
  /** Product modules of which an organization needs one; absent: the kind is part of the base. */
  readonly productModules?: readonly [ProductModule, ...ProductModule[]];
  /**
   * Which rows the app role can reach at all, when the tenancy alone does not say it: SQL over the table's columns, with
   * `$organization` and `$user` for the caller's ids.
   */
  readonly rlsUsing?: string;
  /** Which rows the app role can leave behind, when that is less than it can reach. */
  readonly rlsWithCheck?: string;
  /** Absent: readable, and writes are silently dropped (specification, Authorization rule 3). */
  readonly policy?: Policy;
  /** Fields that leave the data layer; what is not named is invisible. */
  readonly expose: { readonly [N in Name]?: Exposure };
  readonly filter: readonly Name[];
  readonly order: readonly (Name | 'createdAt' | 'updatedAt')[];
  readonly search?: readonly Name[];
  readonly mutate?: readonly Mutation[];
  /** Plain changes that record an event. */
  readonly events: readonly E[];
  /** Events that handlers record besides plain changes, by past participle. */
  readonly customEvents?: C;
  /** Records can be shared with groups, and kept from them (share.ts). */
  readonly share?: true;
  /** Relationship tuples a live row stands for in the authorization store. */
  readonly grants?: readonly TupleGrant<Name>[];
  readonly hooks?: EntityHooks<F>;
}

type TenancyName<T extends Tenancy> = T extends 'organization' ? 'organizationId' : T extends 'user' ? 'userId' : never;
type NameOf<F extends Fields, T extends Tenancy> = Extract<keyof F, string> | TenancyName<T>;

/** A kind whose fields are not known statically: what the machine in this folder works on. */
export interface EntityModule extends EntityDefinition<Fields, Tenancy, string> {
  /** `kind` in snake_case: the prefix of its topics and the type of its tuples. */
  readonly topic: string;
  /** `kind` in PascalCase: its GraphQL and ORM name. */
  readonly typeName: string;
  /** The kind whose history this is, for kinds that are derived from others (history-kind.ts). */
  readonly historyOf?: EntityModule;
}

/** A kind as its own file exports it, with the types of its fields and events. */
export interface TypedModule<
  F extends Fields,
  T extends Tenancy,
  E extends EventVerb = EventVerb,
  C extends CustomEvents = CustomEvents,
> extends EntityModule {
  readonly fields: F;
  readonly tenancy: T;
  readonly events: readonly E[];
  readonly customEvents?: C;
}

/** Fields every record has, whatever its kind. */
export interface RecordFields {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Actor of the creation (see `actorOf`). */
  readonly createdBy: string;
  readonly updatedBy: string;
  /** Raised by one with every change; a change made against an older one is refused as stale. */
  readonly recordVersion: number;
  readonly deletedAt: Date | null;
  readonly deletedBy: string | null;
}

/** A stored record of a kind. */
export type RowOf<M> =
  M extends TypedModule<infer F, infer T>
    ? RecordFields & { readonly [N in TenancyName<T>]: string } & FieldValues<F>
    : never;

/** What a creation takes. The tenancy field defaults to the caller's own. */
export type CreationOf<M> =
  M extends TypedModule<infer F, infer T>
    ? CreationInput<F> & { readonly id?: string } & { readonly [N in TenancyName<T>]?: string }
    : never;

/** What a change takes. */
export type ChangesOf<M> = M extends TypedModule<infer F, Tenancy> ? ChangeInput<F> : never;

/** The fields every kind gets; an entity file may not declare them itself. */
export const recordFieldNames = [
  'id',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'recordVersion',
  'deletedAt',
  'deletedBy',
] as const satisfies readonly (keyof RecordFields)[];

/** Conditions that are decided alike by the authorization store and by SQL. */
const inTheStore = new Set(['anyone', 'system', 'role', 'scope', 'related', 'through']);

/**
 * Checks a definition and completes its names. Pure: nothing is registered or connected here.
 * @throws TypeError when the definition contradicts itself; the message names the kind and the field.
 */
export function defineEntityModule<
  const F extends Fields,
  const T extends Tenancy,
  const E extends EventVerb = never,
  C extends CustomEvents = Record<never, never>,
>(definition: EntityDefinition<F, T, NameOf<F, T>, E, C>): TypedModule<F, T, E, C> {
  const fail = (problem: string): never => {
    throw new TypeError(`entity "${definition.kind}": ${problem}`);
  };
  if (!/^[a-z][a-zA-Z0-9]*$/.test(definition.kind)) fail('the kind must be a camelCase word');
  for (const [name, field] of Object.entries(definition.fields)) {
    if (recordFieldNames.some((given) => given === name))
      fail(`field "${name}" is given to every kind and cannot be declared`);
    if (tenancyField(definition.tenancy).includes(name)) fail(`field "${name}" comes from the tenancy`);
    if (field.type === 'reference' && !name.endsWith('Id')) fail(`reference "${name}" must end in "Id"`);
    if (field.secret && Object.hasOwn(definition.expose, name)) fail(`secret field "${name}" cannot be exposed`);
  }
  if (definition.productModules && definition.tenancy !== 'organization')
    fail("product modules are an organization's, so its records must be too");
  if (definition.productModules && definition.rlsUsing)
    fail("a wall lets records of other organizations through, of which the caller's product modules say nothing");
  if (hasObjectRights(definition.policy)) {
    const { view = [], edit = [], remove = [] } = definition.policy ?? {};
    const isEnded = view.at(-1)?.effect === 'deny' && view.at(-1)?.when.is === 'anyone';
    if (!isEnded) fail('its rights are given record by record, so its rules for viewing must end with deny(anyone)');
    const strange = [...view, ...edit, ...remove].find(({ when }) => !inTheStore.has(when.is));
    if (strange)
      fail(`the authorization store cannot decide "${strange.when.is}"; declare a grant and name its relation`);
    if (definition.tenancy !== 'organization') fail('rights record by record need an organization');
  }
  if (definition.rlsUsing) {
    const { create = [], edit = [], remove = [] } = definition.policy ?? {};
    // Its rows may belong where the caller is not, and there a role of the caller's own organization counts for nothing.
    if ([...create, ...edit, ...remove].some(({ when }) => when.is === 'role'))
      fail('it has a wall, so its rules for changes must say in which organization a role counts (roleIn)');
  }
  const known = new Set([...Object.keys(definition.fields), ...tenancyField(definition.tenancy)]);
  const named = [
    ...Object.keys(definition.expose),
    ...definition.filter,
    ...(definition.search ?? []),
    ...(definition.unique ?? []).flatMap((key) => key.fields),
  ];
  for (const name of named) {
    if (!known.has(name)) fail(`"${name}" is named but not declared; declared are ${[...known].join(', ')}`);
  }
  if (definition.displayId !== undefined && !/^[A-Z]{2,5}$/.test(definition.displayId))
    fail('the prefix of display ids must be two to five capitals');
  // The names were checked above against the declared fields; below this line they are plain strings.
  const untyped = definition as unknown as EntityDefinition<F, T, string, E, C>;
  const [mistake] = fieldMistakes(untyped);
  if (mistake) fail(mistake);
  return {
    ...(definition.displayId === undefined ? untyped : withDisplayId(untyped)),
    ...(definition.productModules && {
      description: `${definition.description} Requires the product module ${definition.productModules.join(' or ')}.`,
    }),
    topic: snakeCase(definition.kind),
    typeName: pascalCase(definition.kind),
  };
}

/** A short name is a field like any other, which the machine fills in (display-id.ts). */
function withDisplayId<F extends Fields, T extends Tenancy, E extends EventVerb, C extends CustomEvents>(
  definition: EntityDefinition<F, T, string, E, C>,
): EntityDefinition<F, T, string, E, C> {
  const displayId = {
    ...text('Human-readable identifier; unique within the organization and immutable.', { max: 20, immutable: true }),
    generated: true,
  } as const;
  return {
    ...definition,
    fields: { displayId, ...definition.fields },
    unique: [
      {
        fields: [...tenancyField(definition.tenancy), 'displayId'],
        message: 'The display id is already taken; try again.',
      },
      ...(definition.unique ?? []),
    ],
    expose: { displayId: 'read', ...definition.expose },
    filter: ['displayId', ...definition.filter],
  };
}

/** The field a tenancy adds to its kinds, as a list of none or one. */
export function tenancyField(tenancy: Tenancy): string[] {
  if (tenancy === 'organization') return ['organizationId'];
  return tenancy === 'user' ? ['userId'] : [];
}

function pascalCase(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
