import fc from 'fast-check';
import { newId } from '#entities/kit/base/ids.ts';
import { scimSchemas, type ScimAnswer } from './scim-client.ts';
import type { Exchange, ScimRequest } from './scim-exchange.ts';
import { groupFilter, userFilter } from './scim-filters.ts';
import { lists } from './scim-searches.ts';
import { groupOperation, idsAt, positions, type GroupContent } from './scim-group-operations.ts';
import { Refusal, isSame, type ModelGroup, type ModelUser, type ScimDocument, type ScimModel } from './scim-model.ts';
import { emails, names, truth, userOperation, withValue, words } from './scim-user-operations.ts';

type Outcome = Pick<Exchange, 'status' | 'scimType' | 'resource' | 'isChanged' | 'heldTag'>;

function outcome(work: () => Outcome): Outcome {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, scimType: error.scimType };
    throw error;
  }
}

const userInput = fc
  .record({
    userName: fc.oneof({ weight: 12, arbitrary: names }, fc.constantFrom(undefined, '', '  ')),
    active: fc.option(truth, { nil: undefined }),
    displayName: fc.option(words, { nil: undefined }),
    title: fc.option(words, { nil: undefined }),
    externalId: fc.option(words, { nil: undefined }),
    familyName: fc.option(words, { nil: undefined }),
    department: fc.option(words, { nil: undefined }),
    emails,
    isUnknown: fc.integer({ min: 0, max: 19 }).map((one) => one === 0),
  })
  .map(({ active, familyName, department, isUnknown, ...plain }) => {
    const [given, meant] = active ?? [undefined, undefined];
    const extension = department === undefined ? undefined : { department };
    const whole = { ...plain, name: familyName === undefined ? undefined : { familyName } };
    const sent = {
      ...whole,
      active: given,
      [scimSchemas.enterprise]: extension,
      ...(isUnknown ? { usrName: 'x' } : {}),
    };
    const document = Object.entries({ ...whole, active: meant, [scimSchemas.enterprise]: extension }).reduce(
      (built: ScimDocument, [name, value]) => withValue(built, name, value),
      {},
    );
    const isRefused = isUnknown || (given !== undefined && meant === undefined) || !plain.userName?.trim();
    return { sent: { schemas: [scimSchemas.user], ...sent }, document, isRefused };
  });

const createUser = userInput.map(({ sent, document, isRefused }): ScimRequest => (model) => ({
  method: 'POST',
  path: '/Users',
  body: sent,
  ...outcome(() => {
    if (isRefused) throw new Refusal(400);
    model.refuseTaken(document);
    return {
      status: 201,
      resource: ({ body, etag }) => {
        const user: ModelUser = { id: body.id, document, etag: etag ?? '' };
        model.users.set(user.id, user);
        return model.shownUser(user);
      },
    };
  }),
}));

/** Position of a resource; now and then one that does not exist. */
const position = fc.oneof({ weight: 10, arbitrary: fc.nat(20) }, fc.constant(-1));
const tags = fc.oneof(
  { weight: 5, arbitrary: fc.constant('none') },
  fc.constantFrom('current', 'any', 'old', 'one of'),
);

/** A request to a resource with an entity tag. */
function toOne<Held extends ModelUser | ModelGroup>(
  method: string,
  path: '/Users' | '/Groups',
  heldIn: (model: ScimModel) => ReadonlyMap<string, Held>,
  work: (model: ScimModel, held: Held) => Outcome,
  bodyOf: (model: ScimModel) => object | undefined = () => undefined,
) {
  return ([at, tag]: readonly [number, string]): ScimRequest =>
    (model) => {
      const all = [...heldIn(model).values()];
      const held = at < 0 ? undefined : all[at % Math.max(1, all.length)];
      const ifMatch = {
        none: undefined,
        current: held?.etag ?? '"0"',
        any: '*',
        old: 'W/"999999"',
        'one of': `W/"999999", ${held?.etag ?? '"0"'}`,
      }[tag];
      const body = bodyOf(model);
      return {
        method,
        path: `${path}/${held?.id ?? newId()}`,
        ...(body ? { body } : {}),
        ...(ifMatch === undefined ? {} : { ifMatch }),
        ...outcome(() => {
          if (!held) throw new Refusal(404);
          if (tag === 'old' && method !== 'GET') throw new Refusal(412);
          return { ...work(model, held), heldTag: held.etag };
        }),
      };
    };
}

function writtenUser(model: ScimModel, held: ModelUser, document: ScimDocument): Outcome {
  const { userName } = document;
  if (typeof userName !== 'string' || userName.trim() === '') throw new Refusal(400, 'invalidValue');
  model.refuseTaken(document, held.id);
  const isChanged = !isSame(document, held.document);
  held.document = document;
  return { status: 200, isChanged, resource: remembered(held, () => model.shownUser(held)) };
}

function remembered(held: ModelUser | ModelGroup, shown: () => ScimDocument): (answer: ScimAnswer) => ScimDocument {
  return ({ etag }) => {
    held.etag = etag ?? '';
    return shown();
  };
}

const target = fc.tuple(position, tags);
const usersOf = ({ users }: ScimModel) => users;
const groupsOf = ({ groups }: ScimModel) => groups;

const putUser = fc.tuple(userInput, target).map(([{ sent, document, isRefused }, at]) =>
  toOne<ModelUser>(
    'PUT',
    '/Users',
    usersOf,
    (model, held) => {
      if (isRefused) throw new Refusal(400);
      return writtenUser(model, held, document);
    },
    () => sent,
  )(at),
);

const patchUser = fc.tuple(fc.array(userOperation, { maxLength: 3 }), target).map(([operations, at]) =>
  toOne<ModelUser>(
    'PATCH',
    '/Users',
    usersOf,
    (model, held) => {
      if (operations.length === 0) throw new Refusal(400, 'invalidSyntax');
      const document = operations.reduce((user, { apply }) => apply(user), held.document);
      return writtenUser(model, held, document);
    },
    () => ({ schemas: [scimSchemas.patch], Operations: operations.map(({ sent }) => sent) }),
  )(at),
);

const getUser = target.map(
  toOne<ModelUser>('GET', '/Users', usersOf, (model, held) => ({
    status: 200,
    isChanged: false,
    resource: remembered(held, () => model.shownUser(held)),
  })),
);

const deleteUser = target.map(
  toOne<ModelUser>('DELETE', '/Users', usersOf, (model, { id }) => {
    model.removeUser(id);
    return { status: 204 };
  }),
);

const groupInput = fc.tuple(
  fc.oneof({ weight: 12, arbitrary: words }, fc.constantFrom(undefined, '')),
  fc.option(words, { nil: undefined }),
  positions,
);

const groupBody = (
  model: ScimModel,
  [displayName, externalId, at]: [string | undefined, string | undefined, number[]],
) => {
  const ids = idsAt(model, at);
  return {
    ids,
    sent: { schemas: [scimSchemas.group], displayName, externalId, members: ids.map((value) => ({ value })) },
    document: withValue({ displayName }, 'externalId', externalId),
  };
};

const createGroup = groupInput.map((input): ScimRequest => (model) => {
  const { sent, document, ids } = groupBody(model, input);
  return {
    method: 'POST',
    path: '/Groups',
    body: sent,
    ...outcome(() => {
      if (!document['displayName']) throw new Refusal(400, 'invalidValue');
      const members = model.membersIn(ids);
      return {
        status: 201,
        resource: ({ body, etag }) => {
          const group: ModelGroup = { id: body.id, document, members, etag: etag ?? '' };
          model.groups.set(group.id, group);
          return model.shownGroup(group);
        },
      };
    }),
  };
});

function writtenGroup(model: ScimModel, held: ModelGroup, { document, members }: GroupContent): Outcome {
  if (!document['displayName']) throw new Refusal(400, 'invalidValue');
  const isSameNow = isSame(document, held.document) && members.symmetricDifference(held.members).size === 0;
  Object.assign(held, { document, members });
  // Members that leave and come back in one request are a change.
  return {
    status: 200,
    isChanged: isSameNow ? undefined : true,
    resource: remembered(held, () => model.shownGroup(held)),
  };
}

/** The body of a request is made before its outcome, from the same model. */
const putGroup = fc.tuple(groupInput, target).map(([input, at]): ScimRequest => (model) => {
  const { sent, document, ids } = groupBody(model, input);
  const work = (_model: ScimModel, held: ModelGroup) =>
    writtenGroup(model, held, { document, members: model.membersIn(ids) });
  return toOne<ModelGroup>('PUT', '/Groups', groupsOf, work, () => sent)(at)(model);
});

const patchGroup = fc
  .tuple(fc.array(groupOperation, { maxLength: 3 }), target)
  .map(([list, at]): ScimRequest => (model) => {
    const operations = list.map((operation) => operation(model));
    const body = { schemas: [scimSchemas.patch], Operations: operations.map(({ sent }) => sent) };
    const work = (_model: ScimModel, held: ModelGroup) => {
      if (operations.length === 0) throw new Refusal(400, 'invalidSyntax');
      const content = operations.reduce((group: GroupContent, { apply }) => apply(group), held);
      return writtenGroup(model, held, content);
    };
    return toOne<ModelGroup>('PATCH', '/Groups', groupsOf, work, () => body)(at)(model);
  });

const getGroup = target.map(
  toOne<ModelGroup>('GET', '/Groups', groupsOf, (model, held) => ({
    status: 200,
    resource: remembered(held, () => model.shownGroup(held)),
  })),
);

const deleteGroup = target.map(
  toOne<ModelGroup>('DELETE', '/Groups', groupsOf, (model, { id }) => {
    model.groups.delete(id);
    return { status: 204 };
  }),
);

export const scimRequest: fc.Arbitrary<ScimRequest> = fc.oneof(
  { weight: 6, arbitrary: createUser },
  { weight: 3, arbitrary: putUser },
  { weight: 8, arbitrary: patchUser },
  { weight: 1, arbitrary: getUser },
  { weight: 2, arbitrary: deleteUser },
  { weight: 5, arbitrary: lists('/Users', userFilter, 'emails') },
  { weight: 3, arbitrary: createGroup },
  { weight: 2, arbitrary: putGroup },
  { weight: 7, arbitrary: patchGroup },
  { weight: 1, arbitrary: getGroup },
  { weight: 1, arbitrary: deleteGroup },
  { weight: 4, arbitrary: lists('/Groups', groupFilter, 'members') },
);
