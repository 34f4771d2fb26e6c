import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { constantCase } from '../derived/constant-case.ts';
import { Node } from '../nodes.ts';
import type { FieldConfig } from '../passthrough-field.ts';
import { ChangeStream } from './change-stream.ts';
import { streaming, type StreamSource } from './stream-field.ts';
import { selectionsOf, type VisibleChange } from './visible-changes.ts';

/** Most ids that one subscription names. */
const maxIds = 100;

export const afterDescription =
  'Continues after the last `cursor` of an earlier subscription, on any process: nothing is lost, and nothing is sent twice. A cursor is valid for a day. Without it, the subscription begins now.';

interface Message {
  readonly operation: 'CREATED' | 'UPDATED' | 'DELETED' | 'POSITION';
  readonly kind: string | null;
  readonly id: string | null;
  readonly recordVersion: number | null;
  readonly records: ReadonlyMap<string, unknown>;
  readonly cursor: string;
}

const operationType = new GraphQLEnumType({
  name: 'RecordChangeOperation',
  description: 'Kind of a change of a record.',
  values: {
    CREATED: {},
    UPDATED: {},
    DELETED: {
      description: 'Sent to callers who may read the history of the record after its deletion.',
    },
    POSITION: {
      description:
        'Nothing: only the cursor is new. Sent when the subscription begins, and after ten minutes without a change.',
    },
  },
});

/** Changes of records of any kinds: one field and one cursor for all of them. */
export function recordChangedField(registry: Registry): FieldConfig {
  const exposed = registry.modules.filter(isExposed);
  const byName = new Map(exposed.map((module) => [constantCase(module.kind), module]));
  const kindType = new GraphQLEnumType({
    name: 'ChangedKind',
    description: 'A kind of records whose changes can be subscribed to.',
    values: Object.fromEntries([...byName].map(([name, { description }]) => [name, { description }])),
  });
  const nameOf = new Map(exposed.map((module) => [module.topic, constantCase(module.kind)]));
  return {
    type: new GraphQLNonNull(changeType(kindType)),
    description:
      'Changes of records of these kinds, as far as the caller can view the records at the moment of each message. Changes that the caller cannot view are not sent. Each change is a message of its own, in the order of the commits; `record` is the record as it is now, which can be newer.',
    args: {
      kinds: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(kindType))),
        description: 'Kinds of the records, at least one.',
      },
      ids: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
        description: `Only these records, up to ${maxIds}. An id of a record that the caller cannot view matches nothing.`,
      },
      after: { type: GraphQLString, description: afterDescription },
    },
    extensions: streaming(async (args, context): Promise<StreamSource> => {
      const { kinds, ids, after } = args as {
        readonly kinds: readonly string[];
        readonly ids?: readonly string[] | null;
        readonly after?: string | null;
      };
      const modules = [...new Set(kinds)].map((name) => byName.get(name)).filter((module) => module !== undefined);
      checkArguments(modules, ids);
      const selections = selectionsOf(context, 'record', modules);
      const subscription = await context.hub.subscribe(
        context.connection,
        { kinds: modules.map(({ topic }) => topic), ...(ids ? { ids: new Set(ids) } : {}) },
        after,
      );
      return new ChangeStream({
        subscription,
        context,
        registry,
        selections,
        message: ({ change, records }: VisibleChange, cursor): Message => ({
          operation: constantCase(change.operation) as Message['operation'],
          kind: nameOf.get(change.kind) ?? null,
          id: change.recordId,
          recordVersion: change.recordVersion,
          records,
          cursor,
        }),
        positionMessage: (cursor): Message => ({
          operation: 'POSITION',
          kind: null,
          id: null,
          recordVersion: null,
          records: new Map(),
          cursor,
        }),
      });
    }),
  };
}

function checkArguments(modules: readonly EntityModule[], ids: readonly string[] | null | undefined): void {
  if (modules.length === 0)
    throw inputError([{ path: '/kinds', message: 'must have at least one kind, such as TASK' }]);
  if (ids && ids.length > maxIds)
    throw limitExceeded(`A subscription names at most ${maxIds} ids; ${ids.length} were given.`, {
      path: '/ids',
      message: `must have at most ${maxIds} items; it has ${ids.length}`,
    });
}

function changeType(kindType: GraphQLEnumType): GraphQLObjectType<Message> {
  return new GraphQLObjectType<Message>({
    name: 'RecordChange',
    description: 'Notification that a record has changed.',
    fields: {
      operation: { type: new GraphQLNonNull(operationType) },
      kind: { type: kindType, description: 'Kind of the record; null for POSITION.' },
      id: { type: GraphQLID, description: 'Id of the record; null for POSITION.' },
      recordVersion: {
        type: GraphQLInt,
        description: 'Version of the record after the change; null for POSITION.',
      },
      record: {
        type: Node,
        description: 'The record as the caller can view it now; null for DELETED and POSITION.',
        resolve: ({ records }, _args, _context, info) => records.get(String(info.path.key)) ?? null,
      },
      cursor: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Cursor from which to continue after this message: `after` of a later subscription.',
      },
    },
  });
}
