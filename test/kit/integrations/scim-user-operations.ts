import fc from 'fast-check';
import { scimSchemas } from './scim-client.ts';
import { Refusal, type ScimDocument } from './scim-model.ts';

/** An operation as it is sent, and its effect on a user. */
export interface UserOperation {
  readonly sent: object;
  /** @throws Refusal */
  readonly apply: (user: ScimDocument) => ScimDocument;
}

export interface Email {
  readonly type: string;
  readonly value: string;
}

/** A word in one of the cases in which it is written. */
export const inAnyCase = (...words: readonly string[]) =>
  fc.constantFrom(...words.flatMap((word) => [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]));

const write = inAnyCase('add', 'replace');
export const removal = inAnyCase('remove');

export const names = fc.constantFrom('ann', 'Ann', 'ANN', 'ben', 'Ben', 'cleo', 'dan', 'eve', 'EVE', 'fay');
export const words = fc.constantFrom('red', 'Red', 'Green', 'blue "x"', 'ü', 'a:b', 'x.y', 'urn:a:1');
export const emails = fc.array(
  fc.record<Email>({ type: fc.constantFrom('work', 'home'), value: fc.constantFrom('a@x.org', 'b@x.org', 'c@x.org') }),
  { maxLength: 2 },
);

const truths: readonly (readonly [unknown, boolean | undefined])[] = [
  [true, true],
  [false, false],
  ['True', true],
  ['False', false],
  ['false', false],
  ['maybe', undefined],
];
export const truth = fc.constantFrom(...truths);

/** The same document with a value, or without it. */
export function withValue(document: ScimDocument, name: string, value: unknown): ScimDocument {
  const { [name]: _old, ...rest } = document;
  const isNone = value === undefined || (Array.isArray(value) && value.length === 0);
  return isNone ? rest : { ...rest, [name]: value };
}

function withPart(document: ScimDocument, name: string, part: string, value: unknown): ScimDocument {
  const inner = withValue((document[name] ?? {}) as ScimDocument, part, value);
  return withValue(document, name, Object.keys(inner).length > 0 ? inner : undefined);
}

const emailsOf = (user: ScimDocument) => (user['emails'] ?? []) as readonly Email[];

const refused = (sent: object): UserOperation => ({
  sent,
  apply: () => {
    throw new Refusal(400);
  },
});

const active = fc
  .tuple(write, truth, fc.constantFrom('path', 'Path in another case', 'none', 'whole path'))
  .map(([op, [value, meant], form]): UserOperation => {
    const path = { path: 'active', 'Path in another case': 'Active', 'whole path': `${scimSchemas.user}:active` };
    const sent = form === 'none' ? { op, value: { active: value } } : { op, path: path[form as 'path'], value };
    return meant === undefined ? refused(sent) : { sent, apply: (user) => withValue(user, 'active', meant) };
  });

const single = fc
  .tuple(write, fc.constantFrom('title', 'displayName', 'externalId', 'userName'), words, fc.nat(3))
  .map(([op, name, word, form]): UserOperation => {
    const sent = [
      { op, path: name, value: word },
      { op, value: { [name]: word } },
      { op, path: `${scimSchemas.user}:${name}`, value: word },
      { op, path: name.toUpperCase(), value: word },
    ][form]!;
    return { sent, apply: (user) => withValue(user, name, word) };
  });

const removed = fc
  .tuple(removal, fc.constantFrom('title', 'displayName', 'externalId', 'userName', 'emails', 'name', 'active'))
  .map(([op, path]): UserOperation => ({ sent: { op, path }, apply: (user) => withValue(user, path, undefined) }));

const ofName = fc
  .tuple(write, fc.constantFrom('givenName', 'familyName'), fc.option(words), fc.nat(2))
  .map(([op, part, word, form]): UserOperation => {
    // null has no value, and removes.
    const sent = [
      { op, path: `name.${part}`, value: word },
      { op, path: 'name', value: { [part]: word ?? 'x' } },
      { op, value: { [`name.${part}`]: word } },
    ][form]!;
    const meant = form === 1 ? (word ?? 'x') : (word ?? undefined);
    return { sent, apply: (user) => withPart(user, 'name', part, meant) };
  });

const ofExtension = fc.tuple(write, fc.option(words), fc.nat(3)).map(([op, word, form]): UserOperation => {
  const id = scimSchemas.enterprise;
  if (word === null)
    return {
      sent: { op: 'Remove', path: form > 1 ? id : `${id}:department` },
      apply: (user) => withPart(user, id, 'department', undefined),
    };
  const sent = [
    { op, path: `${id}:department`, value: word },
    { op, path: id, value: { department: word } },
    { op, value: { [id]: { department: word } } },
    { op, value: { [`${id}:department`]: word } },
  ][form]!;
  return { sent, apply: (user) => withPart(user, id, 'department', word) };
});

const ofEmails = fc
  .tuple(emails, fc.constantFrom('work', 'home'), fc.constantFrom('p@x.org', 'a@x.org'), fc.nat(4))
  .map(([list, type, value, form]): UserOperation => {
    const isOther = (one: Email) => one.type !== type;
    const forms: readonly UserOperation[] = [
      { sent: { op: 'Replace', path: 'emails', value: list }, apply: (user) => withValue(user, 'emails', list) },
      {
        sent: { op: 'add', path: 'emails', value: list },
        apply: (user) => {
          const held = emailsOf(user);
          const isNew = (one: Email) => !held.some((other) => other.type === one.type && other.value === one.value);
          return withValue(user, 'emails', [...held, ...list.filter(isNew)]);
        },
      },
      {
        sent: { op: 'remove', path: `emails[type eq "${type}"]` },
        apply: (user) => withValue(user, 'emails', emailsOf(user).filter(isOther)),
      },
      {
        sent: { op: 'replace', path: `emails[type eq "${type}"].value`, value },
        apply: (user) => {
          const held = emailsOf(user);
          const changed = held.map((one) => (isOther(one) ? one : { ...one, value }));
          return withValue(user, 'emails', held.every(isOther) ? [...held, { type, value }] : changed);
        },
      },
      {
        sent: { op: 'remove', path: `${scimSchemas.user}:emails[value eq "${value}"]` },
        apply: (user) =>
          withValue(
            user,
            'emails',
            emailsOf(user).filter((one) => one.value !== value),
          ),
      },
    ];
    return forms[form]!;
  });

const wrong = fc
  .constantFrom<object>(
    { op: 'move', path: 'title', value: 'x' },
    { op: 'replace', path: 'shoeSize', value: 'x' },
    { op: 'replace', path: 'id', value: 'x' },
    { op: 'add', path: 'groups', value: [{ value: 'x' }] },
    { op: 'replace', path: 'title' },
    { op: 'remove' },
    { op: 'replace', value: 'x' },
    { op: 'replace', path: 'emails[type eq', value: 'x' },
    { op: 'replace', path: 'title[value eq "x"]', value: 'x' },
    { op: 'replace', path: 'name.nick', value: 'x' },
    { op: 'replace', path: 'urn:other:title', value: 'x' },
    { op: 'replace', path: 'title', value: { a: 1 } },
    { path: 'title', value: 'x' },
  )
  .map(refused);

export const userOperation: fc.Arbitrary<UserOperation> = fc.oneof(
  { weight: 4, arbitrary: active },
  { weight: 4, arbitrary: single },
  { weight: 2, arbitrary: removed },
  { weight: 2, arbitrary: ofName },
  { weight: 2, arbitrary: ofExtension },
  { weight: 4, arbitrary: ofEmails },
  { weight: 1, arbitrary: wrong },
);
