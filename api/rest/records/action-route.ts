import { Type, type TProperties, type TSchema } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import {
  flagsOf,
  holdersOf,
  inputOf,
  isList,
  partsOf,
  type Action,
  type Answer,
} from '../../actions/kit/define-action.ts';
import { runAction } from '../../actions/kit/run-action.ts';
import type { AnswerHeader } from '../../http/description/documented-headers.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { inRestNames } from '../../http/value-schema.ts';
import { ifMatchHeaders } from './if-match.ts';
import { inSnakeCase } from './in-snake-case.ts';
import { heldIn, heldSchema, linkProposals } from './held-fields.ts';
import { recordSchema } from './record-schema.ts';
import { selectionOf } from './record-selection.ts';
import { matching, sendEntityTag } from './record-version.ts';

/** The route of an action. */
export function actionRoute(action: Action): Route {
  const { definition } = action;
  const { method = 'POST', url, status = 200, answer, limits = [] } = definition;
  const { inPath, others } = inputOf(definition);
  const names = Object.keys(others);
  const sent = Type.Object(inRest(others), { additionalProperties: false, ...definition.inputSize });
  const part = method === 'GET' ? 'query' : 'body';
  const { record, isAlone } = partsInRest(answer);
  const sends: AnswerHeader[] = [];
  if (record && isAlone) sends.push('ETag');
  if (record && status === 201) sends.push('Location');
  if (holdersOf(definition).some(({ module }) => module.automation)) sends.push('Link');
  const run = async (call: Call<unknown>, given: Values) => {
    const result = await runAction(action, call, given);
    const body = await bodyOf(definition, result, call.unit);
    if (sends.includes('Location')) void call.reply.header('location', `${url}/${String(body['id'])}`);
    linkProposals(
      holdersOf(definition).map(({ name }) => (result as Values)[name] as string),
      call.unit,
      call.reply,
    );
    if (sends.includes('ETag')) sendEntityTag(call.reply, body);
    return { status, body };
  };
  const handle = (call: Call<unknown>) =>
    inSnakeCase(() => {
      const values = (call[part] ?? {}) as Values;
      const named = names.map((name) => [name, values[snakeCase(name)]] as const);
      const given: Values = { ...call.params, ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) };
      if (method !== 'PATCH') return run(call, given);
      const version = given['recordVersion'] as number | undefined;
      return matching(call.request.headers['if-match'], version, (recordVersion) =>
        run(call, recordVersion === undefined ? given : { ...given, recordVersion }),
      );
    }, call.body);
  return defineRoute({
    method,
    url,
    operationId: definition.operationId ?? definition.name,
    tag: definition.tag,
    summary: definition.summary,
    description: inRestNames(definition.description),
    access: 'required',
    ...flagsOf(definition),
    ...(definition.deprecated && { deprecated: definition.deprecated }),
    ...(Object.keys(inPath).length > 0 && { params: Type.Object(inPath) }),
    ...(names.length > 0 && { [part]: sent }),
    ...(method === 'PATCH' && { headers: ifMatchHeaders }),
    ...(sends.length > 0 && { sends }),
    answers: { [status]: answerSchema(definition) },
    errors: [
      ...definition.errors,
      ...(definition.needsPaymentMethod ? (['payment_method_required'] as const) : []),
      ...(limits.length > 0 ? (['too_many_requests'] as const) : []),
    ],
    handle: (call: Call<unknown>) => handle(call),
  });
}

type Values = Readonly<Record<string, unknown>>;

/** Properties by their names in REST, at every depth. */
function inRest(properties: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [snakeCase(name), schemaInRest(schema)]),
  );
}

interface SchemaParts {
  readonly description?: string;
  readonly properties?: TProperties;
  readonly required?: readonly string[];
  readonly items?: TSchema;
}

function schemaInRest(schema: TSchema): TSchema {
  const { description, properties, required, items } = schema as SchemaParts;
  const renamed = Type.Unsafe({
    ...schema,
    ...(description === undefined ? {} : { description: inRestNames(description) }),
    ...(properties ? { properties: inRest(properties) } : {}),
    ...(required ? { required: required.map(snakeCase) } : {}),
    ...(items ? { items: schemaInRest(items) } : {}),
  });
  return Type.IsOptional(schema) ? Type.Optional(renamed) : renamed;
}

/** A value of an answer by the names of its schema in REST, with instants as texts. */
function valueInRest(value: unknown, schema: TSchema): unknown {
  const { properties, items } = schema as SchemaParts;
  if (value instanceof Date) return value.toISOString();
  if (items && Array.isArray(value)) return value.map((one) => valueInRest(one, items));
  if (!properties || typeof value !== 'object' || value === null) return value;
  const held = value as Values;
  return Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [snakeCase(name), valueInRest(held[name], part)]),
  );
}

/** The parts of an answer in REST: the fields of a record, values, a message. */
function partsInRest(answer: Answer) {
  const { records, values, message } = partsOf(answer);
  const record = records.find(({ onlyGraphql }) => !onlyGraphql);
  return { record, values, message, isAlone: Object.keys(values).length === 0 };
}

function answerSchema(definition: Action['definition']): TSchema {
  const { answer, title } = definition;
  const holders = holdersOf(definition);
  if (isList(answer)) return Type.Object({ data: Type.Array(schemaInRest(answer.item)) });
  const { record, values, message, isAlone } = partsInRest(answer);
  if (record && isAlone && holders.length === 0) return recordSchema(record.module);
  if (message !== undefined && isAlone && holders.length === 0) return MessageSchema;
  const properties = {
    ...(record ? recordSchema(record.module).properties : {}),
    ...(message === undefined ? {} : MessageSchema.properties),
    ...inRest(values),
    ...(holders.length > 0 ? { held: heldSchema } : {}),
  };
  return Type.Object(properties, {
    ...(title === undefined ? {} : { title }),
    ...(record ? { description: record.module.description } : {}),
  });
}

async function bodyOf(definition: Action['definition'], result: unknown, unit: UnitOfWork): Promise<Values> {
  const { answer } = definition;
  if (isList(answer)) return { data: (result as readonly unknown[]).map((item) => valueInRest(item, answer.item)) };
  const { record, values, message } = partsInRest(answer);
  const held = result as Values;
  const holders = holdersOf(definition);
  return {
    ...(record
      ? await unit.data.answers.record(selectionOf(unit.registry, record.module), held[record.name] as string)
      : {}),
    ...(message === undefined ? {} : { message: held[message] }),
    ...(valueInRest(held, Type.Object(values)) as Values),
    ...(holders.length > 0
      ? {
          held: heldIn(
            holders.map(({ name }) => held[name] as string),
            unit,
          ),
        }
      : {}),
  };
}
