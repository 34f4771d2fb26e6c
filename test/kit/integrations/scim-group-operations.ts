import fc from 'fast-check';
import { newId } from '#entities/kit/base/ids.ts';
import { scimSchemas } from './scim-client.ts';
import { Refusal, type ScimDocument, type ScimModel } from './scim-model.ts';
import { inAnyCase, removal, withValue, words } from './scim-user-operations.ts';

export interface GroupContent {
  readonly document: ScimDocument;
  readonly members: ReadonlySet<string>;
}

/** An operation as it is sent to a directory, and its effect on a group. */
export type GroupOperation = (model: ScimModel) => {
  readonly sent: object;
  /** @throws Refusal */
  readonly apply: (group: GroupContent) => GroupContent;
};

/** Positions of users; now and then one that does not exist. */
export const positions = fc.array(fc.oneof({ weight: 30, arbitrary: fc.nat(20) }, fc.constant(-1)), { maxLength: 4 });

/** The ids of the users at these positions. */
export function idsAt({ users }: ScimModel, at: readonly number[]): string[] {
  const ids = [...users.keys()];
  return at.flatMap((one) => (one < 0 ? [newId()] : ids.length > 0 ? [ids[one % ids.length]!] : []));
}

const valuesOf = (ids: readonly string[]) => ids.map((value) => ({ value }));

const additions = fc.tuple(inAnyCase('add'), positions, fc.nat(3)).map(([op, at, form]): GroupOperation => (model) => {
  const value = valuesOf(idsAt(model, at));
  const sent = [
    { op, path: 'members', value },
    { op, path: 'Members', value },
    { op, value: { members: value } },
    { op, path: `${scimSchemas.group}:members`, value },
  ][form]!;
  return {
    sent,
    apply: (group) => ({
      ...group,
      members: group.members.union(model.membersIn(value.map((one) => one.value))),
    }),
  };
});

const replacements = fc.tuple(inAnyCase('replace'), positions).map(([op, at]): GroupOperation => (model) => {
  const ids = idsAt(model, at);
  return {
    sent: { op, path: 'members', value: valuesOf(ids) },
    // Nobody named, nobody removed.
    apply: (group) => (ids.length === 0 ? group : { ...group, members: model.membersIn(ids) }),
  };
});

const removals = fc.tuple(removal, positions, fc.nat(2)).map(([op, at, form]): GroupOperation => (model) => {
  const ids = idsAt(model, at);
  const [first = newId()] = ids;
  if (form === 0)
    return {
      sent: { op, path: `members[value eq "${first}"]` },
      apply: (group) => ({ ...group, members: group.members.difference(new Set([first])) }),
    };
  if (form === 1)
    return {
      sent: { op, path: 'members', value: valuesOf([first, ...ids]) },
      apply: (group) => ({ ...group, members: group.members.difference(new Set([first, ...ids])) }),
    };
  return { sent: { op, path: 'members' }, apply: (group) => ({ ...group, members: new Set() }) };
});

const texts = fc
  .tuple(inAnyCase('add', 'replace'), fc.constantFrom('displayName', 'externalId'), words, fc.nat(2))
  .map(([op, name, word, form]): GroupOperation => () => {
    const sent = [
      { op, path: name, value: word },
      { op, value: { [name]: word } },
      { op, path: `${scimSchemas.group}:${name}`, value: word },
    ][form]!;
    return { sent, apply: (group) => ({ ...group, document: withValue(group.document, name, word) }) };
  });

const removedTexts = fc
  .tuple(removal, fc.constantFrom('displayName', 'externalId'))
  .map(([op, path]): GroupOperation => () => ({
    sent: { op, path },
    apply: (group) => ({ ...group, document: withValue(group.document, path, undefined) }),
  }));

const wrong = fc
  .constantFrom<object>(
    { op: 'add', path: 'members', value: [{ value: 'x', type: 'Group' }] },
    { op: 'add', path: 'members', value: [{ display: 'x' }] },
    { op: 'replace', path: 'members[value eq "x"].display', value: 'x' },
    { op: 'add', path: 'members[type eq "User"]', value: { value: 'x' } },
    { op: 'replace', path: 'active', value: true },
    { op: 'replace', path: 'displayName', value: ['x'] },
    { op: 'replace', value: { id: 1, unknown: 2 } },
  )
  .map((sent): GroupOperation => () => ({
    sent,
    apply: () => {
      throw new Refusal(400);
    },
  }));

export const groupOperation: fc.Arbitrary<GroupOperation> = fc.oneof(
  { weight: 5, arbitrary: additions },
  { weight: 4, arbitrary: replacements },
  { weight: 4, arbitrary: removals },
  { weight: 3, arbitrary: texts },
  { weight: 1, arbitrary: removedTexts },
  { weight: 1, arbitrary: wrong },
);
