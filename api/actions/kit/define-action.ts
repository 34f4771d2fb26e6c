import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { canHold } from '#entities/kit/write/change-behaviour.ts';
import type { Asking } from '../../credentials/asking.ts';
import type { Deprecation } from '../../http/deprecation.ts';
import type { Services } from '../../http/services.ts';

/** A record in the answer of an action, which returns its id. */
export interface RecordPart {
  readonly is: 'record';
  readonly module: EntityModule;
  readonly description?: string;
  /** REST answers without it. */
  readonly onlyGraphql?: true;
}

/** The result as text for people, in REST; GraphQL answers with the records. */
export interface MessagePart {
  readonly is: 'message';
}

/** The parts of an answer, by their names in GraphQL: values by their schemas, records, a message. */
export type AnswerParts = Readonly<Record<string, TSchema | RecordPart | MessagePart>>;

/** An answer that is a list of objects. The title of their schema is the name of their type in GraphQL. */
export interface ListAnswer<Item extends TObject = TObject> {
  readonly is: 'list';
  readonly item: Item;
}

export type Answer = AnswerParts | ListAnswer;

/** The result of the handler: values, ids of records, a message; or the items of a list. */
export type ResultOf<A extends Answer> =
  A extends ListAnswer<infer Item>
    ? readonly Static<Item>[]
    : {
        readonly [Name in keyof A]: A[Name] extends RecordPart | MessagePart
          ? string
          : A[Name] extends TSchema
            ? Static<A[Name]>
            : never;
      };

/** How often an action may succeed; with `outside`, how often the other system is called: a call that fails has cost it the same work. */
export interface ActionLimit {
  /** Owner of the count: the record of the URL, or the organization of the caller. */
  readonly per: 'record' | 'organization';
  readonly uses: number;
  readonly windowMs: number;
  /** Begins the message of the refusal. */
  readonly exceeded: string;
}

/**
 * The part of an action in another system, between two transactions: no connection of the database waits for the other system. The call may
 * run again, because operations of GraphQL do, so it carries an idempotency key or sets a value.
 */
export interface OutsidePart<Input extends TProperties, Plan, Outcome> {
  /** Decides whether the caller may, and what is called, in a transaction that is committed before the call. */
  prepare(asking: Asking, input: Static<TObject<Input>>): Promise<Plan>;
  call(services: Services, plan: Plan): Promise<Outcome>;
}

/**
 * An operation beyond create, read, update and delete. REST and GraphQL have it alike: route and field, their descriptions, the callers
 * and the idempotency follow from it.
 */
export interface ActionDefinition<Input extends TProperties, A extends Answer, Plan = undefined, Outcome = undefined> {
  /** Name of the field in GraphQL. Actions named `create…` or `update…` take their input as an object, as derived mutations do. */
  readonly name: string;
  /** Name of the operation in REST; default: the name. */
  readonly operationId?: string;
  /** `GET`: a query. `PATCH`: a change that can name the version on which it is based (`expectedVersion`). Default: `POST`. */
  readonly method?: 'GET' | 'PATCH';
  /** URL in REST, such as `/v1/tasks/:id/close`. Its parameters are parts of the input. */
  readonly url: string;
  readonly tag: string;
  readonly summary: string;
  /** For both interfaces; fields stand in backticks, by their names in GraphQL. */
  readonly description: string;
  /** As for routes (`RouteDefinition`): who may call the action besides people who are signed in; the handler decides about records. */
  readonly acceptsTokens?: true;
  readonly acceptsSingleSignOn?: true;
  readonly answersCredential?: true;
  /** The organization of the caller has a payment method, where the configuration requires one. */
  readonly needsPaymentMethod?: true;
  /** Checked before the handler, or with `outside.prepare`. A use that is refused before it has no effect and is not counted. */
  readonly limits?: readonly ActionLimit[];
  /** Schemas by the names in GraphQL; REST has them in snake_case. Both interfaces check them. */
  readonly input?: Input;
  /** How many properties the input has besides the parameters of the URL. */
  readonly inputSize?: { readonly minProperties?: number; readonly maxProperties?: number };
  readonly answer: A;
  /** Name of the schema of the answer, and of its type if the action is a query. */
  readonly title?: string;
  /** Status in REST; default: 200. */
  readonly status?: 201 | 202;
  /** Errors besides those of every route and of `limits`. */
  readonly errors: readonly ErrorCode[];
  readonly deprecated?: Deprecation;
  /** In GraphQL, the field of such an action is the only one of its operation. */
  readonly outside?: OutsidePart<Input, Plan, Outcome>;
  /** @param outcome result of the call outside */
  run(asking: Asking, input: Static<TObject<Input>>, outcome: Outcome): Promise<ResultOf<A>>;
}

/** @throws TypeError for a definition that contradicts itself */
export function defineAction<Input extends TProperties, A extends Answer, Plan = undefined, Outcome = undefined>(
  definition: ActionDefinition<Input, A, Plan, Outcome>,
): Action {
  const { name, url, input = {}, limits = [] } = definition;
  const missing = parametersOf(url).find((parameter) => !Object.hasOwn(input, parameter));
  if (missing !== undefined) throw new TypeError(`the input of ${name} has no ${missing}, which its URL names`);
  if (limits.some(({ per }) => per === 'record') && !parametersOf(url).includes('id'))
    throw new TypeError(`${name} has a limit for each record, and no id in its URL`);
  return new Action(definition as unknown as AnyDefinition);
}

type AnyDefinition = ActionDefinition<TProperties, Answer, unknown, unknown>;

/** An action that was declared. */
export class Action {
  readonly definition: AnyDefinition;

  constructor(definition: AnyDefinition) {
    this.definition = definition;
  }
}

/** The flags of an action about its callers, its answer and its effects: its route and its field have the same. */
export function flagsOf({ acceptsTokens, acceptsSingleSignOn, answersCredential, outside }: Action['definition']) {
  return {
    ...(acceptsTokens && { acceptsTokens }),
    ...(acceptsSingleSignOn && { acceptsSingleSignOn }),
    ...(answersCredential && { answersCredential }),
    ...(outside && { runsOnce: true as const }),
  };
}

/** The input of an action: what its URL has, and what body, query or arguments have. */
export function inputOf({ url, input = {} }: Action['definition']): {
  readonly inPath: TProperties;
  readonly others: TProperties;
} {
  const parameters = new Set(parametersOf(url));
  const ofPath = (isIn: boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => parameters.has(name) === isIn));
  return { inPath: ofPath(true), others: ofPath(false) };
}

export function isList(answer: Answer): answer is ListAnswer {
  return (answer['is'] as unknown) === 'list';
}

/** The parts of an answer by what they are. */
export function partsOf(answer: Answer) {
  const parts = isList(answer) ? [] : Object.entries(answer);
  const values: TProperties = {};
  const records: (RecordPart & { readonly name: string })[] = [];
  let message: string | undefined;
  for (const [name, part] of parts) {
    const { is } = part as Partial<RecordPart | MessagePart>;
    if (is === 'record') records.push({ ...(part as RecordPart), name });
    else if (is === 'message') message = name;
    else values[name] = part;
  }
  return { records, values, message };
}

/** Records in the answer of a change whose kinds can hold fields: the answer says which were held. */
export function holdersOf({
  method,
  answer,
}: Action['definition']): readonly (RecordPart & { readonly name: string })[] {
  return method === 'GET' ? [] : partsOf(answer).records.filter(({ module }) => canHold(module));
}

/** Names of the parameters of a URL. */
export function parametersOf(url: string): string[] {
  return Array.from(url.matchAll(/:(\w+)/g), ([, name = '']) => name);
}
