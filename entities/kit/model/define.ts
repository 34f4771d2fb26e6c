import type { Behaviour } from './behaviour.ts';
import { fieldMistakes } from './checks/field-mistakes.ts';
import type { AcceptedFiles } from './files/accepted-types.ts';
import type { CreationInput, ChangeInput, FieldValues } from './field-values.ts';
import type { Fields } from './declared-field.ts';
import { text } from './fields.ts';
import type { CustomEvents, EventVerb } from './events.ts';
import type { EntityHooks } from './hooks.ts';
import { fieldUses, type FieldUses } from './derived/field-uses.ts';
import { nameForms } from './derived/name-forms.ts';
import { recordFieldNames, type RecordFields } from './derived/record-fields.ts';
import type { Policy } from './policy.ts';
import type { ProductModule } from './product-modules.ts';
import { policyMistakes } from './checks/policy-mistakes.ts';
import type { Join, JoinSide, Restriction, UniqueKey } from './record-rules.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { Traits } from './traits.ts';
import type { TupleGrant } from './tuples.ts';

/** The owner of a record. `{ none }` opts a kind out of tenancy; its text is the reason. */
export type Tenancy = 'organization' | 'user' | { readonly none: string };

/** Mutations that are derived for callers, for one record and in bulk. The others are written by hand, or only the server makes them. */
export type Mutation = 'create' | 'update' | 'delete';

/**
 * The whole definition of one kind of record: its fields, tenancy, policy, exposed fields and events. Storage, row-level
 * security, history, tuples and GraphQL are derived from it.
 */
/** An index over some of the live rows. */
interface PartialIndex<Name extends string = string> {
  readonly fields: readonly Name[];
  /** Which rows, as an SQL condition over their columns. */
  readonly where: string;
}

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
  /** Prefix of the display ids of its records, for example `TSK`; no two kinds share one. */
  readonly displayId?: string;
  readonly unique?: readonly UniqueKey<Name>[];
  /** Further indexes over live rows, besides references and unique keys. */
  readonly indexes?: readonly (readonly Name[] | PartialIndex<Name>)[];
  readonly tenancy: T;
  /** The organization needs one of these product modules to use the kind. */
  readonly productModules?: readonly [ProductModule, ...ProductModule[]];
  /** Absent: all records are readable, and writes are dropped without an error. */
  readonly policy?: Policy;
  /** Lists can be filtered by the field that the tenancy adds. */
  readonly tenancyFilter?: true;
  readonly mutate?: readonly Mutation[];
  /** Verbs of changes that record an event. */
  readonly events: readonly E[];
  /** Events that handlers record besides those of changes, by verb: a past participle. */
  readonly customEvents?: C;
  /** Records can be shared with groups, and groups can be blocked from them (share.ts). */
  readonly share?: true;
  /** Many records are linked with many of other kinds (join.ts). */
  readonly joins?: readonly Join[];
  /** Records have any number of files, which their viewers read and their editors attach and remove (kind-files.ts). */
  readonly files?: AcceptedFiles;
  /** Rules that few kinds have (entities/kit/behaviours/). */
  readonly behaviours?: readonly Behaviour<Name>[];
  /** Relationship tuples that the authorization store has for each live row. */
  readonly grants?: readonly TupleGrant<Name>[];
  readonly hooks?: EntityHooks<F>;
}

type TenancyName<T extends Tenancy> = T extends 'organization' ? 'organizationId' : T extends 'user' ? 'userId' : never;
type NameOf<F extends Fields, T extends Tenancy> = Extract<keyof F, string> | TenancyName<T>;

/** A kind whose fields are not known statically. The kit works with kinds of this type. */
export interface EntityModule extends EntityDefinition<Fields, Tenancy, string>, FieldUses, Traits {
  /** `kind` in snake_case: the prefix of its topics and the type of its tuples. */
  readonly topic: string;
  /** `kind` in PascalCase: its GraphQL and ORM name. */
  readonly typeName: string;
  /** The kind whose history this is; only for histories (history-kind.ts). */
  readonly historyOf?: EntityModule;
  /** The two kinds whose records it links; only for links (join.ts). */
  readonly sides?: readonly [JoinSide, JoinSide];
  /** Records with this value need a further right to the record in a reference when they are created or deleted; only for shares (share.ts). */
  readonly restricted?: Restriction;
}

/** A kind as its own file exports it, with the types of its fields and events. */
export interface TypedModule<
  F extends Fields,
  T extends Tenancy,
  E extends EventVerb = EventVerb,
  C extends CustomEvents = CustomEvents,
  D extends string = string,
> extends EntityModule {
  readonly fields: F;
  /** `never` for a kind whose records have no display id. */
  readonly displayId?: D;
  readonly tenancy: T;
  readonly events: readonly E[];
  readonly customEvents?: C;
}

export type RowOf<M> =
  M extends TypedModule<infer F, infer T, EventVerb, CustomEvents, infer D>
    ? RecordFields & { readonly [N in TenancyName<T> | DisplayIdName<D>]: string } & FieldValues<F>
    : never;

type DisplayIdName<D extends string> = [D] extends [never] ? never : 'displayId';

/** The tenancy field defaults to the caller's organization or user id. */
export type CreationOf<M> =
  M extends TypedModule<infer F, infer T>
    ? CreationInput<F> & { readonly id?: string } & { readonly [N in TenancyName<T>]?: string }
    : never;

export type ChangesOf<M> = M extends TypedModule<infer F, Tenancy> ? ChangeInput<F> : never;

/**
 * Checks a definition and adds the derived names. Pure: it registers nothing and opens no connection.
 * @throws TypeError when the definition is not valid; the message names the kind and the field
 */
export function defineEntityModule<
  const F extends Fields,
  const T extends Tenancy,
  const E extends EventVerb = never,
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- a kind that declares no custom events has no verbs for them
  C extends CustomEvents = Record<never, never>,
  const D extends string = never,
>(definition: EntityDefinition<F, T, NameOf<F, T>, E, C> & { readonly displayId?: D }): TypedModule<F, T, E, C, D> {
  const fail = (problem: string): never => {
    throw new TypeError(`entity "${definition.kind}": ${problem}`);
  };
  if (!/^[a-z][a-zA-Z0-9]*$/.test(definition.kind)) fail('the kind must be a camelCase word');
  for (const [name, field] of Object.entries(definition.fields)) {
    if (recordFieldNames.some((given) => given === name))
      fail(`field "${name}" is part of every kind and cannot be declared`);
    if (tenancyField(definition.tenancy).includes(name))
      fail(`field "${name}" is added by the tenancy and cannot be declared`);
    if (field.type === 'reference' && !name.endsWith('Id')) fail(`reference "${name}" must end in "Id"`);
  }
  const traits: Traits = Object.assign({}, ...(definition.behaviours ?? []).map((behaviour) => behaviour.traits));
  for (const mistake of policyMistakes({ ...definition, ...traits })) fail(mistake);
  const known = new Set([...Object.keys(definition.fields), ...tenancyField(definition.tenancy)]);
  const named = [
    ...(definition.unique ?? []).flatMap((key) => key.fields),
    ...(definition.behaviours ?? []).flatMap(({ fields }) => fields),
    ...Object.values(definition.fields).flatMap(({ file }) => Object.values(file?.fills ?? {})),
  ];
  for (const name of named) {
    if (!known.has(name)) fail(`"${name}" is not a declared field; declared are ${[...known].join(', ')}`);
  }
  if (definition.displayId !== undefined && !/^[A-Z]{2,5}$/.test(definition.displayId))
    fail('the prefix of display ids must be two to five capital letters');
  // The names were checked against the declared fields above, so plain strings are safe from here on.
  const untyped = definition as unknown as EntityDefinition<F, T, string, E, C>;
  const [mistake] = fieldMistakes(definition.fields, Object.keys(definition.customEvents ?? {}));
  if (mistake) fail(mistake);
  const whole = definition.displayId === undefined ? untyped : withDisplayId(untyped);
  const forms = nameForms(whole.unique ?? []);
  const module: TypedModule<F, T, E, C> = {
    ...whole,
    ...fieldUses(whole.fields, definition.tenancyFilter ? tenancyField(definition.tenancy) : []),
    ...traits,
    fields: { ...whole.fields, ...forms.fields },
    unique: forms.unique,
    ...(definition.productModules && {
      description: `${definition.description} Requires the product module ${definition.productModules.join(' or ')}.`,
    }),
    topic: snakeCase(definition.kind),
    typeName: definition.kind.slice(0, 1).toUpperCase() + definition.kind.slice(1),
  };
  // The prefix is that of the definition.
  return module as TypedModule<F, T, E, C, D>;
}

/** Adds the field `displayId`, which is generated at creation (base/display-id.ts). */
function withDisplayId<F extends Fields, T extends Tenancy, E extends EventVerb, C extends CustomEvents>(
  definition: EntityDefinition<F, T, string, E, C>,
): EntityDefinition<F, T, string, E, C> {
  const displayId = {
    ...text('Human-readable identifier; unique within the organization and immutable.', {
      max: 20,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
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
  };
}

/** The field that a tenancy adds to its kinds, as a list of one name, or an empty list. */
export function tenancyField(tenancy: Tenancy): string[] {
  if (tenancy === 'organization') return ['organizationId'];
  return tenancy === 'user' ? ['userId'] : [];
}
